"""Several processes that offer one service: each registers itself, clients list them all."""

from hanaming import HAContext, Node

with Node("web-1") as one, Node("web-2", seeds=[one.address]) as two:
    with one.register("orders", "10.0.0.5:8080"), two.register("orders", "10.0.0.6:8080", weight=2.0):
        with HAContext(one.url) as ctx:
            for instance in ctx.instances("orders"):
                print(instance.node, instance.value, instance.weight)
            assert len(ctx.instances("orders")) == 2
    with HAContext(one.url) as ctx:
        assert ctx.instances("orders") == [], "a registration ends with its block"
