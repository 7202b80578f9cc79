"""What `hanaming.Balancer` and its asyncio twin share.

`judge` finds the verdict on what a block raised, `series` carries one call from attempt to attempt, `told` has an
exception tell them, `face` is what both classes look like. Which target is called, and whether there is another
attempt, is decided in Rust.
"""
