"""The alerts of the committed charts, judged by Prometheus' own checker."""

from __future__ import annotations

from pathlib import Path

import yaml

from charts.reading import only, rendered, run


def test_prometheus_accepts_the_alerts(helm: str, promtool: str, chart: Path, tmp_path: Path) -> None:
    """Every alert parses, and its query with the labels filled in is PromQL."""
    rule = only(rendered(helm, chart), "PrometheusRule")
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump(rule["spec"]), encoding="utf-8")
    result = run(promtool, "check", "rules", path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "SERIES" not in path.read_text("utf-8")


def test_no_alert_calls_a_first_start_blind(helm: str, promtool: str, chart: Path, tmp_path: Path) -> None:
    """Errors that end before KEDA falls back wake nobody; those that go on do."""
    objects = rendered(helm, chart)
    rule = only(objects, "PrometheusRule")["spec"]
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(rule), encoding="utf-8")
    alert = next((one for one in rule["groups"][0]["rules"] if one["alert"] == "ScalingIsBlind"), None)
    if alert is None:
        assert chart.name == "dev-4b"  # nothing scales it
        return
    polls = only(objects, "ScaledObject")["spec"]["fallback"]["failureThreshold"]
    name = f'keda_scaled_object_errors_total{{scaledObject="{chart.name}",namespace="keda",exported_namespace="llm"}}'
    told = {"exp_labels": alert["labels"], "exp_annotations": alert["annotations"]}
    until = polls // 4 + 15  # minutes, at four polls in each
    cases = [
        {
            "interval": "15s",
            "input_series": [{"series": name, "values": values}],
            "alert_rule_test": [
                {"eval_time": f"{minute}m", "alertname": "ScalingIsBlind", "exp_alerts": alerts} for minute in minutes
            ],
        }
        for values, minutes, alerts in (
            (f"0+1x{polls} {polls}x200", range(until), []),
            (f"0+1x{polls + 200}", [until], [told]),
        )
    ]
    tests = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": cases}
    (tmp_path / "tests.yaml").write_text(yaml.safe_dump(tests), encoding="utf-8")
    result = run(promtool, "test", "rules", tmp_path / "tests.yaml")
    assert result.returncode == 0, result.stdout + result.stderr
