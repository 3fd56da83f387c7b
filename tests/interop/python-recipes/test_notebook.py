"""test_notebook.py - tests that the notebook runs, and that the rates measured in it agree with its
exact model."""

import json

import matplotlib.pyplot as plt


def test_rate_curve(tmp_path):
    with open("bindings/python/example/rate_curve.ipynb") as file:
        notebook = json.load(file)
    names = {}
    for cell in notebook["cells"]:
        assert not cell.get("outputs") and not cell.get("execution_count")
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    for measured, predicted in zip(names["measured"], names["predicted"], strict=True):
        # Allows 6 standard deviations for the 200,000 queries, plus the variation in how full the
        # cache lines are.
        assert abs(measured - predicted) <= 6 * (predicted / 200_000) ** 0.5 + 0.02 * predicted
    assert names["measured"][9] > 0.005
    names["figure"].savefig(tmp_path / "curve.png")
    assert len(names["axes"].lines) == 5 and (tmp_path / "curve.png").stat().st_size > 10_000
    plt.close("all")
