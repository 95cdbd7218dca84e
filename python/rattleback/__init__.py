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
from ._poses import Poses, poses
from .replay import Replay, Saved
from .sim import Info, Sim, State
from .solve import (ImpactAnswer, Problem, ProblemError, Solution, impact, read_problems,
                    solve_friction, solve_lcp, write_problems)
from .spec import Spec, SpecElement
from . import _register, studies
from .studies import Study, StudyError, study

__all__ = ["Batch", "Element", "ImpactAnswer", "Info", "InputError", "Model", "ModelError",
           "ModelFileError", "ModelWarning", "Poses", "Problem", "ProblemError", "RattlebackError",
           "Replay", "Rollout", "Saved", "Sim", "Solution", "Spec", "SpecElement", "State", "Status", "StepError",
           "Study", "StudyError", "__version__", "impact", "poses", "read_problems", "solve_friction", "solve_lcp", "studies",
           "study", "write_problems"]

_register.watch()
