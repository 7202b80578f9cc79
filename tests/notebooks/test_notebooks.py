"""The notebooks run clean, against real nodes, in a kernel of their own; they are kept without outputs."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LIMIT = 120


def run(notebook):
    """Runs each cell and gives all outputs; a cell that raises is an error here."""
    client = NotebookClient(notebook, timeout=LIMIT, kernel_name="python3", resources={"metadata": {"path": FOLDER}})
    client.execute()
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def shown(outputs, kind):
    return [output.data[kind] for output in outputs if kind in output.get("data", {})]


def of(*sources):
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    return nbformat.read(request.param, as_version=4)


def test_there_are_notebooks():
    assert [path.stem for path in NOTEBOOKS] == ["dns_flaw", "failure_log", "split", "tour"]


def test_a_notebook_is_kept_without_outputs(notebook):
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


def test_a_notebook_runs_clean(notebook, request):
    outputs = run(notebook)
    kinds = {output.output_type for output in outputs}
    assert "error" not in kinds
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []
    forms = shown(outputs, "text/html")
    assert forms
    # Beside each form stands plain text, and no form needs a script or anything from elsewhere.
    assert all("text/plain" in output.data for output in outputs if "text/html" in output.get("data", {}))
    assert not any(re.search(r"<script|src=|href=|url\(", form) for form in forms)
    pictures = shown(outputs, "image/png")
    assert len(pictures) == ("dns_flaw" in request.node.name)


def test_await_at_top_level_and_plain_calls_in_one_kernel():
    outputs = run(
        of(
            "from hanaming import HAContext, Node, aio\nnode = Node('n1')\nplain = HAContext(node.url)\n"
            "twin = aio.HAContext(node.url)",
            "await twin.bind('a', 1)\nplain.lookup('a')",
            "plain.rebind('a', 2)\nawait twin.lookup('a')",
            "async with twin.watch('a') as events:\n    event = await anext(aiter(events))\nevent.new.value",
            "await twin.aclose()\nplain.close()\nnode.close()",
        )
    )
    assert [output.data["text/plain"] for output in outputs if output.output_type == "execute_result"] == [
        "1",
        "2",
        "2",
    ]
    assert all(output.output_type == "execute_result" for output in outputs), outputs


def test_a_cell_that_raises_is_seen():
    """What the tests above rest on."""
    with pytest.raises(Exception, match="NameNotFoundError"):
        run(of("from hanaming import Node\nwith Node('n1') as node:\n    node.local.lookup('missing')"))
