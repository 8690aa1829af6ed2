"""Renders the chart and checks what comes out against the schemas of Kubernetes.

Reads the path of a chart and lists of values as JSON from the standard input, and writes for each of them the documents, or why there are
none, and what is wrong with them.
"""

import json
import sys
from typing import Any

import helm_python as helm
import kubernetes_validate
import yaml

# The oldest version that the chart names and the newest that is known.
KUBERNETES = ("1.25", "1.37")

# Kinds of the Prometheus operator, which have no schema here.
UNKNOWN_GROUPS = ("monitoring.coreos.com/",)


def problems_of(document: dict[str, Any]) -> list[str]:
    if document["apiVersion"].startswith(UNKNOWN_GROUPS):
        return []
    problems: list[str] = []
    for version in KUBERNETES:
        try:
            kubernetes_validate.validate(document, version, strict=True)
        except Exception as error:  # noqa: BLE001 - whatever is wrong is reported
            problems.append(
                f"{version} {document['kind']} {document['metadata']['name']}: {error}"
            )
    return problems


def rendered(chart: helm.Chart, values: dict[str, Any]) -> dict[str, Any]:
    try:
        chart.validate_schema(values)
        files = chart.render(values, name="loom", namespace="prod")
    except helm.HelmError as error:
        return {"refused": str(error)}
    texts = [text for name, text in files.items() if name.endswith(".yaml")]
    documents = [
        document for text in texts for document in yaml.safe_load_all(text) if document
    ]
    return {
        "documents": documents,
        "problems": [line for each in documents for line in problems_of(each)],
    }


def main() -> None:
    asked = json.load(sys.stdin)
    with helm.Chart.load(asked["chart"]) as chart:
        json.dump([rendered(chart, values) for values in asked["values"]], sys.stdout)


main()
