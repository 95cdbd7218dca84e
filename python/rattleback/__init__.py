"""rattleback: rigid and articulated bodies in hard contact, every step certified.

    import rattleback as rb
    model = rb.Model.load("robot.xml")
    sim = rb.Sim(model)
    sim.ctrl[:] = 0.1
    sim.step(1000)
    print(sim.time, sim.q, sim.info)

Manual: docs/manual/python.md.
"""
from ._lib import (InputError, ModelError, ModelFileError, RattlebackError, Status, StepError,
                   VERSION as __version__)
from .batch import Batch, Rollout
from .model import Element, Model, ModelWarning
from .sim import Info, Sim, State
from .spec import Spec, SpecElement

__all__ = ["Batch", "Element", "Info", "InputError", "Model", "ModelError", "ModelFileError", "ModelWarning",
           "RattlebackError", "Rollout", "Sim", "Spec", "SpecElement", "State", "Status", "StepError",
           "__version__"]
