"""Lints the chart, renders it with several values, and checks what comes out.

    tests/chart/run        # with `helm` of the path, else one of its own; NOT RUN where neither is to be had

`helm` renders. `kubernetes-validate` (requirements.txt) holds every resource against the schemas of Kubernetes. What no schema
knows is checked here: that names and selectors fit together, that the probes are routes of the service, and that every option
is one that `epitome serve` takes, where $EPITOME_BIN names the command.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import yaml

CHART = Path(__file__).resolve().parents[2] / "deploy" / "chart"
KUBERNETES = "1.30"
NEEDED = {"image": {"repository": "registry.example/epitome"}, "store": {"secret": "database"}, "tokens": {"secret": "tokens"}}
EVERYTHING = {
    **NEEDED,
    "image": {"repository": "registry.example/epitome", "tag": "1.2.3", "pullPolicy": "Always"},
    "imagePullSecrets": [{"name": "registry"}],
    "config": '[budget]\nmodel = "gpt-4o"\n',
    "upstreams": ["openai=https://api.openai.example", "https://other.example"],
    "extraArgs": ["--requests-per-minute=600", "--rate-scope=store", "--log=warn"],
    "env": [{"name": "OTEL_EXPORTER_OTLP_ENDPOINT", "value": "http://collector:4318"}],
    "autoscaling": {"enabled": True, "requestsInFlight": 40},
    "serviceMonitor": {"enabled": True, "labels": {"release": "monitoring"}, "token": {"secret": "scraper"}},
    "readinessPath": "/readyz",
    "preStopSleepSeconds": 0,
    "podAnnotations": {"team": "agents"},
    "nodeSelector": {"kubernetes.io/os": "linux"},
    "tolerations": [{"key": "spot", "operator": "Exists"}],
    "affinity": {"podAntiAffinity": {}},
    "service": {"type": "LoadBalancer", "port": 8080, "sticky": False},
}

# What is refused, and the place that the error names.
REFUSED = {
    "no image": ("image.repository", {key: value for key, value in NEEDED.items() if key != "image"}),
    "no store": ("store.secret", {**NEEDED, "store": {"secret": ""}}),
    "no tokens": ("tokens.secret", {key: value for key, value in NEEDED.items() if key != "tokens"}),
    "a word that is not a value": ("replica", {**NEEDED, "replica": 3}),
    "monitored without a token": ("serviceMonitor.token.secret", {**NEEDED, "serviceMonitor": {"enabled": True}}),
    "a path that is not one of readiness": ("readinessPath", {**NEEDED, "readinessPath": "/ready"}),
    "an option without dashes": ("extraArgs.0", {**NEEDED, "extraArgs": ["log=warn"]}),
    # Kubernetes takes strings in these places, and a cluster refuses a number only when the release is on its way.
    "a variable that is a number": ("env.0.value", {**NEEDED, "env": [{"name": "PORT", "value": 8080}]}),
    "an annotation that is a number": ("podAnnotations.rev", {**NEEDED, "podAnnotations": {"rev": 3}}),
    "a node's label that is a number": ("nodeSelector.zone", {**NEEDED, "nodeSelector": {"zone": 1}}),
    "a monitor's label that is a number": ("serviceMonitor.labels.rev", {**NEEDED, "serviceMonitor": {"labels": {"rev": 3}}}),
}


def helm(*arguments, values):
    """Standard output of helm with these values; raises with what it says where it refuses."""
    command = ["helm", *arguments, "--values", "-"]
    ran = subprocess.run(command, input=json.dumps(values), capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise ValueError(f"{' '.join(command)}: {ran.stderr or ran.stdout}")
    return ran.stdout


def rendered(values, kubernetes=KUBERNETES):
    text = helm("template", "release", str(CHART), "--namespace", "agents", "--kube-version", kubernetes, values=values)
    documents = [document for document in yaml.safe_load_all(text) if document]
    found = {document["kind"]: document for document in documents}
    assert len(found) == len(documents), "two resources of one kind"
    return found


def check_resources(found, expected, readiness="/healthz", sleep=5):
    assert set(found) == expected, set(found) ^ expected
    names = {document["metadata"]["name"] for document in found.values()}
    assert names == {"release-epitome"}, names
    pod = found["Deployment"]["spec"]["template"]
    selectors = [found["Deployment"]["spec"]["selector"]["matchLabels"], found["Service"]["spec"]["selector"]]
    if "PodDisruptionBudget" in found:
        selectors.append(found["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"])
    for selector in selectors:
        assert selector.items() <= pod["metadata"]["labels"].items(), selector
    if "ServiceMonitor" in found:
        monitored = found["ServiceMonitor"]["spec"]["selector"]["matchLabels"]
        assert monitored.items() <= found["Service"]["metadata"]["labels"].items(), monitored
    if "HorizontalPodAutoscaler" in found:
        target = found["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]
        assert (target["kind"], target["name"]) == ("Deployment", "release-epitome"), target
        assert "replicas" not in found["Deployment"]["spec"], "it would undo what the autoscaler did"
    (container,) = pod["spec"]["containers"]
    ports = {port["name"] for port in container["ports"]}
    assert found["Service"]["spec"]["ports"][0]["targetPort"] in ports
    probes = {probe: container[f"{probe}Probe"]["httpGet"]["path"] for probe in ("startup", "liveness", "readiness")}
    # A database that is down is not to take the routes that need none out of the Service.
    assert probes == {"startup": "/healthz", "liveness": "/healthz", "readiness": readiness}, probes
    startup = container["startupProbe"]
    assert startup["periodSeconds"] * startup["failureThreshold"] >= 600, "a migration takes longer than that"
    assert container.get("lifecycle") == ({"preStop": {"sleep": {"seconds": sleep}}} if sleep else None)
    volumes = {volume["name"] for volume in pod["spec"]["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes, volumes
    for document in found.values():
        # Resources of other makers have no schema among those of Kubernetes.
        if "coreos.com" not in document["apiVersion"]:
            kubernetes_validate.validate(document, KUBERNETES, strict=True)
    return container["args"]


def check_options(arguments):
    binary = os.environ.get("EPITOME_BIN")
    if not binary:
        print("NOT RUN: whether `epitome serve` takes the options (EPITOME_BIN is not set)", file=sys.stderr)
        return
    offered = subprocess.run([binary, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    for argument in arguments[1:]:
        option = argument.split("=")[0]
        assert f"{option} <" in offered, f"epitome serve has no {option}"


def main():
    if not shutil.which("helm"):
        print("NOT RUN: the chart is not checked (no `helm` on the path, and none to be had for this machine)", file=sys.stderr)
        return
    for values in (NEEDED, EVERYTHING):
        helm("lint", "--strict", str(CHART), values=values)
    usual = {"Deployment", "Service", "PodDisruptionBudget"}
    check_resources(rendered(NEEDED), usual)
    check_resources(rendered({**NEEDED, "podDisruptionBudget": {"enabled": False}}), usual - {"PodDisruptionBudget"})
    earlier = rendered(NEEDED, kubernetes="1.29")["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert "lifecycle" not in earlier[0], "it knows no such hook"
    found = rendered(EVERYTHING)
    everything = usual | {"ConfigMap", "HorizontalPodAutoscaler", "ServiceMonitor"}
    check_options(check_resources(found, everything, readiness="/readyz", sleep=0))
    assert found["ConfigMap"]["data"]["epitome.toml"] == EVERYTHING["config"]
    for why, (place, values) in REFUSED.items():
        try:
            rendered(values)
        except ValueError as error:
            # Helm 4 writes a place with slashes, Helm 3 with points.
            assert "schema" in str(error) and place in str(error).replace("/", "."), error
        else:
            raise AssertionError(f"rendered in spite of this: {why}")
    print("the chart lints, renders and fits together")


if __name__ == "__main__":
    main()
