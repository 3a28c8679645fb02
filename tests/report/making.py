"""Run directories at any stage, written with the ledger and the publisher that real runs use.

The effects are those of the real run of exp_9574bbb76e, so that the interval is known from there.
"""

import hashlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rx_tools.evidence.ledger import Ledger
from rx_tools.evidence.publish import publish
from rx_tools.evidence.run_dir import create_run_dir, pretty
from rx_tools.planning.derive import derive

FIXTURES = Path(__file__).parents[1] / "fixtures"
START = datetime(2026, 11, 29, 20, 10, tzinfo=UTC)
EFFECTS = {0: 0.004549, 1: 0.003932, 2: 0.00534}
"""D of each seed in the record of the real run; its interval is [0.002854, 0.00636]."""
OFFSETS = (-0.25, 0.25, -0.125, 0.125)
GATES = {
    "correctness_preflight": ("not_applicable", []),
    "restoration_preflight": ("passed", []),
    "activation_gate": ("passed", []),
    "feasibility": ("passed", []),
    "generation_audit": ("not_applicable", []),
}


def digest(*words):
    return hashlib.sha256(" ".join(map(str, words)).encode()).hexdigest()


class Made:
    """One run directory; every method takes it one stage further."""

    def __init__(self, place, experiment="exp_9574bbb76e", *, change=None, run_id="made-0001"):
        self.place = Path(place)
        self.spec = json.loads((FIXTURES / f"{experiment}.spec.json").read_text())
        if change:
            change(self.spec)
        content = pretty(self.spec)
        plan = derive(self.spec, hashlib.sha256(content).hexdigest(), experiment=experiment).plan
        self.run = create_run_dir(
            self.place, run_id=run_id, experiment=experiment, spec=content, plan=plan
        )
        moments = (START + timedelta(seconds=n) for n in range(10**6))
        self.ledger = Ledger.create(self.run.ledger_path, run_id, lambda: next(moments))
        self.say("run_created", experiment=experiment, rehearsal=False, like=None)
        self.ledger.append("plan_frozen", {}, {"plan.json": self.run.plan_sha256})

    @property
    def plan(self):
        return self.run.plan

    def say(self, event, **data):
        self.ledger.append(event, data)

    def close(self):
        self.ledger.close()
        return self.place

    def evidence(self, name, content):
        published = self.run.put_evidence(name, content)
        return {published.name: published.sha256}

    def deviates(self, field, original, effective, reason, instead=""):
        one = {"field": field, "original": original, "effective": effective, "reason": reason}
        self.say(
            "deviations_declared",
            deviations=[one],
            original_hypothesis_tested=not instead,
            tested_instead=instead,
        )
        return self

    def preflight(self, **judged):
        self.say("probe_started", probe="service")
        files = self.evidence("code-revision.txt", b"rx-tools 0.1.0\ntinker 0.38.0\n")
        service = {"service": {"exports": True}, "identity": {"host": "train.example"}}
        files |= self.evidence("preflight-service.json", pretty(service))
        values = {"executed_steps": 60, "executed_learning_rate_treatment": 3e-4}
        pilot = {"activation_calibration": {"values": values, "note": "a pilot of 11 steps"}}
        files |= self.evidence("preflight-activation.json", pretty(pilot))
        self.ledger.append("probe_finished", {"probe": "service"}, files)
        self.evaluator = digest("evaluator")
        items = [f"item-{number}" for number in range(len(OFFSETS))]
        provenance = {"code_sha256": digest("code"), "parser": "token_mean", "items": items}
        self.say(
            "evaluator_frozen",
            evaluator_id=self.evaluator,
            items="confirmation",
            provenance=provenance | {"items": {"ids": items}},
        )
        self.scored("base", "base", None, 2.439, "confirmation")
        for gate, (status, reasons) in (GATES | judged).items():
            self.say("gate_judged", gate=gate, status=status, reasons=reasons)
        return self

    def clear(self, arms=None, number=1):
        names = [arm.name for arm in arms or self.plan.arms]
        self.say("clearance_issued", clearance=number, arms=names, sha256=digest(number))
        return self

    def start(self, arm, number=1):
        self.say("clearance_spent", arm=arm.name, clearance=number)
        self.say("arm_started", arm=arm.name, attempt=1, clearance=f"clearance-{number}.json")

    def step(self, arm, step, loss):
        self.say(
            "update_acknowledged",
            arm=arm.name,
            seed=arm.seed,
            step=step,
            train_nll=loss,
            learning_rate=arm.learning_rate or 1e-4,
            optimizer=arm.optimizer.type,
            batch_sha256=digest("batch", arm.seed, step),
        )

    def train(self, arm, steps=None):
        self.start(arm)
        for step in range(arm.steps if steps is None else steps):
            self.step(arm, step, 2.4 - 0.3 * step / arm.steps - 0.01 * arm.seed)
        if steps is None:
            self.say("arm_finished", arm=arm.name, steps=arm.steps, uri=f"tinker://{arm.name}/end")
        return self

    def scored(self, name, role, seed, value, items):
        rows = [
            {"item_id": f"item-{n}", "arm": name, "prediction": value + offset, "reference": None}
            for n, offset in enumerate(OFFSETS)
        ]
        content = "".join(json.dumps(row) + "\n" for row in rows).encode()
        files = self.evidence(f"predictions-{name}.jsonl", content)
        data = {"arm": name, "items": items, "value": value, "token_mean": value, "n_tokens": 59503}
        data |= {"evaluator_id": self.evaluator}
        self.ledger.append("arm_scored", data, files)

    def score(self, arm, value=None):
        if value is None:
            value = 2.0 + (EFFECTS[arm.seed] if arm.role == "baseline" else 0.0)
        items = "search" if arm.phase == "selection" else "confirmation"
        self.scored(arm.name, arm.role, arm.seed, value, items)
        return self

    def decide(self, verdict="inconclusive", reason="tie"):
        metric = self.spec["decision_rule"]["criteria"][0]["metric"]
        rows = [
            {
                "item_id": f"item-{number}",
                "arm": arm.role,
                "seed": arm.seed,
                "metric": metric,
                "value": 2.0 + (EFFECTS[arm.seed] if arm.role == "baseline" else 0.0) + offset,
                "evaluator_id": self.evaluator,
            }
            for arm in self.plan.confirmation
            for number, offset in enumerate(OFFSETS)
        ]
        content = "".join(json.dumps(row) + "\n" for row in rows).encode()
        files = self.evidence("scored-observations.jsonl", content)
        self.ledger.append("decision_made", {"verdict": verdict, "outcome_reason": reason}, files)
        record = {"status": "succeeded", "verdict": verdict, "outcome_reason": reason}
        return self.post(record | {"summary": "Six arms ran and were scored."})

    def post(self, record):
        name = f"record-{len(self.run.record_paths()) + 1:04d}.json"
        published = publish(self.run.updates, name, pretty(record))
        self.ledger.append(
            "record_posted",
            {"update": name, "status": record["status"]},
            {name: published.sha256},
        )
        return self

    def finish(self):
        """From the preflight to the decision, every arm in the plan's order."""
        self.preflight().clear()
        for arm in self.plan.arms:
            self.train(arm).score(arm)
        return self.decide()
