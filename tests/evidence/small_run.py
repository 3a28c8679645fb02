"""A small finished run, written by hand: the documents that a real one leaves, in small numbers.

Six arms (two rates, three seeds) of the real spec, three steps each, four held-out items.
"""

import copy
import hashlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rx_tools.evidence.canonical import compact, document
from rx_tools.evidence.ledger import Ledger
from rx_tools.evidence.publish import publish

FIXTURES = Path(__file__).parents[1] / "fixtures"
RUN_ID = "small-20261129T201000Z"
STEPS, ITEMS, TOKENS = 3, 4, 10
START = datetime(2026, 11, 29, 20, 10, tzinfo=UTC)
SEEDS = (0, 1, 2)
RATES = {"baseline": 1e-4, "treatment": 3e-4}
NAMES = {"baseline": "baseline_lr1e-4_seed{}", "treatment": "treatment_lr3e-4_seed{}"}
ADAMW = {"beta1": 0.9, "beta2": 0.95, "eps": 1e-8}
GATES = {
    "correctness_preflight": "not_applicable",
    "restoration_preflight": "passed",
    "activation_gate": "passed",
    "feasibility": "passed",
    "generation_audit": "not_applicable",
}
PROVENANCE = {
    "code_sha256": hashlib.sha256(b"scoring code").hexdigest(),
    "prompt_template": "the chat template, all assistant messages",
    "decoding": {"temperature": 0, "max_tokens": 0, "stop": []},
    "parser": "loss_eval.LossEval('token_mean')",
    "items": {"ids": [f"item-{number}" for number in range(ITEMS)]},
}
EVALUATOR = hashlib.sha256(compact(PROVENANCE)).hexdigest()


def digest(*words):
    return hashlib.sha256(" ".join(map(str, words)).encode()).hexdigest()


def nll(role, seed, item):
    """Sum of the NLL of an item; treatment is better by 0.05 a token, with a little noise."""
    per_token = 2.0 + 0.01 * seed + 0.1 * item
    return TOKENS * (per_token - (0.05 + 0.001 * seed if role == "treatment" else 0.0))


class SmallRun:
    """`build` writes the directory; the documents may be changed before."""

    def __init__(self, place):
        self.place = Path(place)
        self.spec = json.loads((FIXTURES / "exp_9574bbb76e.spec.json").read_text())
        self.spec |= {"steps": STEPS}
        self.spec["eval"]["n_examples"] = ITEMS
        self.spec["activation_gate"]["checks"] = [
            {"metric": "executed_steps", "min": STEPS, "max": STEPS, "measures": "steps"},
        ]
        self.metric = self.spec["decision_rule"]["criteria"][0]["metric"]
        self.arms = [
            {"name": NAMES[role].format(seed), "role": role, "seed": seed, "rate": RATES[role]}
            for seed in SEEDS
            for role in RATES
        ]

    def build(self, *, restore=""):
        """Write everything; `restore` names an arm that is restored once on the way."""
        self.restored = restore
        for folder in ("evidence", "updates", "work"):
            (self.place / folder).mkdir(parents=True)
        (self.place / "work" / "adapter.bin").write_bytes(b"never bundled")
        moments = (START + timedelta(seconds=n) for n in range(10**6))
        with Ledger.create(self.place / "ledger.jsonl", RUN_ID, lambda: next(moments)) as ledger:
            self.ledger = ledger
            self.before_training()
            for arm in self.arms:
                self.train(arm)
            self.after_training()
        return self.place

    def publish(self, name, content, folder=""):
        return {name: publish(self.place / folder, name, content).sha256}

    def before_training(self):
        run = {
            "schema": "urn:rx:schema:run:1",
            "rx_version": "0.1.0",
            "run_id": RUN_ID,
            "experiment": "small",
            "rehearsal": False,
            "like": None,
            "service": "embedded",
        }
        self.ledger.append("run_created", {}, self.publish("run.json", document(run)))
        self.publish("spec.json", document(self.spec))
        self.ledger.append("plan_frozen", {}, self.publish("plan.json", document(self.plan())))
        self.ledger.append("evaluator_frozen", {"evaluator_id": EVALUATOR})
        self.post("running", final=False)
        for arm in self.arms:
            self.ledger.append("initialization_recorded", {"arm": arm["name"]})
            self.ledger.append("optimizer_checked", {"arm": arm["name"], "after_restore": 0})
        files = self.publish("preflight.json", document({"note": "what was measured"}), "evidence")
        for gate, status in GATES.items():
            self.ledger.append("gate_judged", {"gate": gate, "status": status}, files)
        clearance = {"schema": "urn:rx:schema:clearance:1", "number": 1}
        files = self.publish("clearance-1.json", document(clearance))
        cleared = [arm["name"] for arm in self.arms]
        issued = {"clearance": "clearance-1.json", "arms": cleared}
        self.ledger.append("clearance_issued", issued, files)

    def plan(self):
        arms = [
            {
                "name": arm["name"],
                "role": arm["role"],
                "seed": arm["seed"],
                "phase": "confirmation",
                "steps": STEPS,
                "learning_rate": arm["rate"],
                "grid": None,
                "group": arm["seed"],
                "optimizer": {"type": "adamw", "parameters": ADAMW},
            }
            for arm in self.arms
        ]
        return {
            "schema": "urn:rx:schema:plan:1",
            "rx_version": "0.1.0",
            "experiment": "small",
            "spec_sha256": hashlib.sha256(document(self.spec)).hexdigest(),
            "derived_from": None,
            "arms": arms,
            "grids": [],
            "readings": {"primary": "margin"},
        }

    def train(self, arm):
        name = arm["name"]
        spent = {"arm": name, "clearance": "clearance-1.json"}
        self.ledger.append("clearance_spent", spent)
        self.ledger.append("arm_started", {**spent, "attempt": 1})
        for step in range(STEPS):
            self.update(arm, step)
            if name == self.restored and step == 1:
                self.restore(arm)
        uri = f"tinker://{name}/weights/final"
        data = {"arm": name, "step": STEPS, "uri": uri, "with_optimizer": True}
        self.ledger.append("checkpoint_saved", data)
        self.ledger.append("arm_finished", {"arm": name, "steps": STEPS, "uri": uri})

    def update(self, arm, step):
        data = {
            "arm": arm["name"],
            "step": step,
            "batch_sha256": digest("batch", arm["seed"], step),
            "learning_rate": arm["rate"],
            "optimizer": "adamw",
            "train_nll": 2.5 - 0.1 * step,
        }
        self.ledger.append("update_acknowledged", data)

    def restore(self, arm):
        name, uri = arm["name"], f"tinker://{arm['name']}/weights/step-1"
        data = {"arm": name, "restore": 1, "uri": uri, "step": 1, "discarded": 1}
        self.ledger.append("arm_restored", data)
        self.ledger.append("optimizer_checked", {"arm": name, "after_restore": 1})
        self.update(arm, 1)

    def after_training(self):
        self.ledger.append("scoring_started", {})
        for arm in self.arms:
            files = self.publish(f"predictions-{arm['name']}.jsonl", self.rows(arm), "evidence")
            mean = sum(nll(arm["role"], arm["seed"], n) for n in range(ITEMS)) / (ITEMS * TOKENS)
            data = {"arm": arm["name"], "items": "confirmation", "token_mean": mean}
            self.ledger.append("arm_scored", data, files)
        rows = b"".join(compact(row) + b"\n" for row in self.observations())
        self.publish("observations.jsonl", rows, "evidence")
        self.publish("script.py", b"print('trained')\n", "evidence")
        self.publish("code-revision.txt", b"rx 0.1.0\n", "evidence")
        self.publish("effective-config.json", document({"steps": STEPS}), "evidence")
        self.ledger.append("decision_made", {"verdict": "supported"})
        self.post("succeeded", final=True)

    def rows(self, arm):
        return b"".join(
            compact(
                {
                    "item_id": f"item-{number}",
                    "arm": arm["name"],
                    "seed": arm["seed"],
                    "metric": self.metric,
                    "evaluator_id": EVALUATOR,
                    "prediction": {
                        "nll_sum": nll(arm["role"], arm["seed"], number),
                        "n_tokens": TOKENS,
                    },
                    "reference": None,
                }
            )
            + b"\n"
            for number in range(ITEMS)
        )

    def observations(self):
        return [
            {
                "item_id": f"item-{number}",
                "arm": arm["role"],
                "seed": arm["seed"],
                "metric": self.metric,
                "value": nll(arm["role"], arm["seed"], number) / TOKENS,
                "evaluator_id": EVALUATOR,
            }
            for arm in self.arms
            for number in range(ITEMS)
        ]

    def post(self, status, *, final):
        number = len(list((self.place / "updates").iterdir())) + 1
        name = f"record-{number:04d}.json"
        files = self.publish(name, document(self.record(status, final)), "updates")
        self.ledger.append("record_posted", {"update": number, "status": status}, files)

    def record(self, status, final):
        record = {
            "status": status,
            "summary": "A small run, made by hand.",
            "metrics": {"arms": {}},
            "completed_arms": [],
            "deviations": [],
            "original_hypothesis_tested": True,
        }
        if not final:
            return record
        names = [arm["name"] for arm in self.arms]
        return record | {
            "completed_arms": names,
            "verdict": "supported",
            "outcome_reason": "supported",
            "correctness_preflight": {"required": False, "paths": []},
            "initialization_provenance": {"version": 1, "arms": [*map(self.provenance, self.arms)]},
            "activation_calibration": {"values": {"executed_steps": STEPS}, "note": "by schedule"},
            "evaluation": self.evaluation(),
            "loss_eval": self.loss_eval(),
            "decision": {
                "version": 1,
                "observations_file": {
                    "name": "observations.jsonl",
                    "sha256": hashlib.sha256(
                        (self.place / "evidence" / "observations.jsonl").read_bytes()
                    ).hexdigest(),
                },
            },
            "evidence": self.evidence(),
        }

    def provenance(self, arm):
        checks = [
            {
                "after_restore": number,
                "before_next_update": True,
                "actual": "adamw",
                "actual_config": {**ADAMW, "learning_rate": arm["rate"]},
                "source": "server_response",
                "evidence_ref": "preflight.json",
            }
            for number in range(2 if arm["name"] == self.restored else 1)
        ]
        return {
            "name": arm["name"],
            "initialization": {
                "base_checkpoint": "Qwen/Qwen3.5-2B",
                "adapter_sha256": digest("adapter", arm["seed"]),
                "source": "local_hash",
                "evidence_ref": "preflight.json",
                "before_first_update": True,
            },
            "restore_count": len(checks) - 1,
            "optimizer_checks": checks,
            "initial_output": {
                "available": True,
                "batch_sha256": digest("fixed batch"),
                "output_sha256": digest("output", arm["seed"]),
                "evidence_ref": "preflight.json",
                "before_first_update": True,
            },
        }

    def evaluation(self):
        scores = [
            {
                "arm": arm["name"],
                "metric": self.metric,
                "value": sum(nll(arm["role"], arm["seed"], n) for n in range(ITEMS))
                / (ITEMS * TOKENS),
                "evaluator_id": EVALUATOR,
                "seed": arm["seed"],
                "predictions_ref": f"predictions-{arm['name']}.jsonl",
            }
            for arm in self.arms
        ]
        return {
            "version": 1,
            "evaluators": {EVALUATOR: copy.deepcopy(PROVENANCE)},
            "scores": scores,
            "comparisons": [{"metric": self.metric, "arms": [arm["name"] for arm in self.arms]}],
        }

    def loss_eval(self):
        arms = {}
        for arm in self.arms:
            sums = [nll(arm["role"], arm["seed"], number) for number in range(ITEMS)]
            mean = sum(sums) / (ITEMS * TOKENS)
            arms[arm["name"]] = {
                "aggregation": "token_mean",
                "value": mean,
                "token_mean": mean,
                "example_mean": sum(s / TOKENS for s in sums) / ITEMS,
                "nll_sum": sum(sums),
                "n_tokens": ITEMS * TOKENS,
                "n_examples": ITEMS,
                "n_empty": 0,
            }
        return {"aggregation": "token_mean", "arms": arms}

    def evidence(self):
        kinds = {
            "script.py": "script",
            "code-revision.txt": "code_revision",
            "effective-config.json": "effective_config",
            "observations.jsonl": "metrics",
            "preflight.json": "metrics",
        }
        files = sorted((self.place / "evidence").iterdir())
        return {
            "version": 1,
            "files": [
                {
                    "name": path.name,
                    "kind": kinds.get(path.name, "predictions"),
                    "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
                }
                for path in files
            ],
            "checkpoints": [
                {
                    "arm": arm["name"],
                    "step": STEPS,
                    "uri": f"tinker://{arm['name']}/weights/final",
                }
                for arm in self.arms
            ],
            "per_arm_metrics": {},
        }
