"""The service's state: base model, sessions, live models, store, and the one worker."""

import time
from collections.abc import Mapping
from pathlib import Path
from threading import Event, Thread

from rx_tools.local import archive, huggingface, lora, optimizers
from rx_tools.local.base import BaseModel, tiny
from rx_tools.local.checkpoints import RUN, Address, Facts
from rx_tools.local.choosing import Faults
from rx_tools.local.engine import Engine
from rx_tools.local.http import Response, answer
from rx_tools.local.lora import Adapter, LoraConfig
from rx_tools.local.models import LiveModel
from rx_tools.local.refusals import Category, HttpRefusalError, OperationFailedError
from rx_tools.local.samplers import Sampler
from rx_tools.local.scheduler import Scheduler, Work
from rx_tools.local.sessions import Session, Sessions
from rx_tools.local.settings import Settings
from rx_tools.local.store import Store
from rx_tools.local.texts import Texts

TEND_SECONDS = 0.5


class Service:
    """What every route works on."""

    def __init__(self, settings: Settings, faults: Faults | None = None) -> None:
        self.settings, self.faults = settings, faults or Faults()
        self.base = _base(settings.model_folder)
        self.engine = Engine(self.base)
        self.store = Store(settings.store)
        self.sessions = Sessions()
        self.scheduler = Scheduler()
        self.models: dict[str, LiveModel] = {}
        self.samplers: dict[str, Sampler] = {}
        self.texts = Texts(settings.tokenizer)
        self.expected: set[str] = set()
        self.lost: set[str] = set()
        self._closing = Event()
        Thread(target=self._tend, name="tend", daemon=True).start()

    def live(self, model_id: str) -> LiveModel:
        """A live model, inside an operation."""
        model = self.models.get(model_id)
        if model_id in self.lost:
            raise OperationFailedError(lost(model_id), Category.SERVER)
        if model is None:
            raise OperationFailedError(f"model {model_id} was not created")
        return model

    def require(self, model_id: str) -> None:
        """Refuse over HTTP what cannot be a model of this start: 410 when its run is known."""
        if model_id in self.expected:
            self.sessions.alive(model_id.rpartition(":train:")[0])
            if model_id not in self.lost:
                return
        if self.known_run(model_id) is not None:
            raise HttpRefusalError(410, lost(model_id))
        raise HttpRefusalError(404, f"model {model_id} does not exist")

    def known_run(self, run: str) -> dict[str, object] | None:
        """A training run of this store, None for any other text."""
        return self.store.run(run) if RUN.fullmatch(run) else None

    def submit(self, model_id: str, turn: int, work: Work) -> Response:
        """Queue an operation of a model in its order."""
        session = model_id.rpartition(":train:")[0]
        if self.faults.any(lambda fault: fault.on_operation(session)):
            self.release(self.sessions.get(session), "evicted: no heartbeat")
        self.require(model_id)
        return accepted(self.scheduler.submit_in_order(model_id, turn, work), model_id)

    def submit_creation(self, model_id: str, work: Work) -> Response:
        """Queue the creation of a model."""
        key = ("create", model_id)
        if self.faults.any(lambda fault: fault.stalls_creation()):
            return accepted(self.scheduler.stall(key), model_id)
        return accepted(self.scheduler.submit(key, work), model_id)

    def base_named(self, name: object) -> str:
        """The name of a served base model; others are refused."""
        if not isinstance(name, str) or name not in self.settings.model_names:
            served = ", ".join(self.settings.model_names)
            raise OperationFailedError(f"base model {name!r} is not served; served: {served}")
        return name

    def add(self, session: Session, model: LiveModel, metadata: object) -> None:
        """Make a model live and remember its run; a session that has ended meanwhile gets none."""
        if session.closed:
            raise OperationFailedError(f"session {session.session_id} is {session.closed}")
        self.models[model.model_id] = model
        self.store.add_run(
            model.model_id,
            {
                "base_model": model.base_name,
                "created": time.time(),
                "rank": model.lora.rank,
                "session": session.session_id,
                "user_metadata": metadata,
            },
        )

    def add_sampler(self, sampler: Sampler) -> None:
        """Make a sampler known to its session."""
        self.samplers[sampler.sampler_id] = sampler
        self.sessions.get(sampler.session_id).samplers.append(sampler.sampler_id)

    def fresh(
        self, session: Session, model_id: str, base: str, config: LoraConfig, *,
        optimizer: Mapping[str, object], seed: int | None,
    ) -> LiveModel:  # fmt: skip
        """A model that has learnt nothing; without a seed, the store's next one is drawn."""
        drawn = seed if seed is not None else (1 << 62) + self.store.count_runs()
        adapter = lora.fresh(self.base, config, drawn)
        return LiveModel(
            model_id, session.session_id, base, config, adapter, optimizer,
            optimizers.fresh(optimizer),
        )  # fmt: skip

    def facts(self, model: LiveModel, ttl: int | None, metadata: object) -> Facts:
        """The facts of a checkpoint that is taken of a model now."""
        now = time.time()
        return Facts(
            base_model=model.base_name,
            rank=model.lora.rank,
            train_attn=model.lora.train_attn,
            train_mlp=model.lora.train_mlp,
            train_unembed=model.lora.train_unembed,
            optimizer=dict(model.optimizer_config),
            created=now,
            expires=None if ttl is None else now + ttl,
            user_metadata=metadata if isinstance(metadata, dict) else None,
        )

    def file(self, address: Address, name: str) -> bytes:
        """One file of a checkpoint."""
        return Path(self.store.path(address, name)).read_bytes()

    def adapter(self, address: Address, config: LoraConfig) -> Adapter:
        """The adapter of a checkpoint, which must fit `config`."""
        like = lora.fresh(self.base, config, 0)
        return archive.read_adapter(self.file(address, archive.ADAPTER), like)

    def lose_models(self) -> None:
        """Forget every live model, as a restart of the engine does."""
        self.lost |= set(self.models)
        self.models.clear()

    def release(self, session: Session, why: str) -> None:
        """Close a session and give its models' memory back."""
        session.closed = why
        for model_id in session.models:
            self.lost.add(model_id)
            with self.scheduler.quiet:
                self.models.pop(model_id, None)
            self.scheduler.forget(model_id, lost(model_id))
        for sampler_id in session.samplers:
            self.samplers.pop(sampler_id, None)

    def close(self) -> None:
        """Finish what runs and stop."""
        self._closing.set()
        self.scheduler.close()
        self.store.close()

    def _tend(self) -> None:
        """Evict silent sessions, as long as the service runs."""
        while not self._closing.wait(TEND_SECONDS):
            for session in self.sessions.silent(self.settings.idle_seconds):
                self.release(session, "evicted: no heartbeat")


def _base(folder: Path | None) -> BaseModel:
    return tiny() if folder is None else huggingface.load(folder)


def lost(model_id: str) -> str:
    """The sentence about a model that was evicted, released or gone with its engine."""
    return f"model_lost: {model_id} does not live any more"


def accepted(request_id: str, model_id: str | None = None) -> Response:
    """The answer to a submission."""
    return answer({"request_id": request_id, "model_id": model_id})
