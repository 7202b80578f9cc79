"""What failed calls mean: did they run, and may they be sent again?"""

import socket

from hanaming import classify, corba


def refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        closed = server.getsockname()
    socket.create_connection(closed, timeout=1).close()


def quiescing() -> None:
    raise corba.TRANSIENT(corba.IBM_WEBSPHERE | 0x40, corba.COMPLETED_NO)


def lost() -> None:
    raise ConnectionResetError("the reply never came")


for call in (refused, quiescing, lost):
    try:
        call()
    except (OSError, corba.SystemException) as error:
        verdict = classify(error)
        print(f"{call.__name__}: {verdict.category}, ran: {verdict.completion}, do: {verdict.action}. {verdict.advice}")
