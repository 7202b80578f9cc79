"""Settings of older naming systems: JNDI environments, `jndi.properties` files and their provider URLs.

    from hanaming.jndi import InitialContext

    with InitialContext({"java.naming.provider.url": "jnp://10.0.0.5:11100,10.0.0.6:11100"}) as ctx:
        ctx.lookup("orders")

A program that comes from JBoss, WebLogic, WebSphere, WildFly or a plain ORB brings its settings along: they are read, what
has a counterpart in `hanaming.HAContext` is used, and all else is in `warnings`, with what to do instead. Addresses are
taken as they stand: an old URL's default port is kept, and a hanaming node must listen there.

`hanaming.aio.jndi.InitialContext` is the asyncio twin.
"""

from hanaming.jndi.context import InitialContext
from hanaming.jndi.environment import Environment
from hanaming.jndi.provider_url import Endpoint, ProviderUrl

__all__ = ["Endpoint", "Environment", "InitialContext", "ProviderUrl"]
