"""What MuJoCo says about the states of a model.

Contacts, limits, friction loss and equalities are switched off: they are not part of what is
compared. `without` names what else a model had that rattleback reads without effect."""
import mujoco
import numpy as np


class Side:
    def __init__(self, path):
        self.without = []
        self.dropped = False
        self.m = m = self._load(path)
        self.d = mujoco.MjData(m)
        m.opt.disableflags |= (mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
                               | mujoco.mjtDisableBit.mjDSBL_CONTACT)
        m.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
        self.actuators = self._comparable_actuators()
        if not self.actuators:
            m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION

    def _load(self, path):
        """MuJoCo 4.0.0 does not find the length range of a muscle of its own arm26.xml. rattleback
        does: its muscles pull, and nothing that they act on can be compared."""
        try:
            return mujoco.MjModel.from_xml_path(path)
        except ValueError as error:
            if "Lengthrange" not in str(error):
                raise
        spec = mujoco.MjSpec.from_file(path)
        for actuator in list(spec.actuators):
            spec.delete(actuator)
        self.without.append("muscles")
        self.dropped = True
        return spec.compile()

    def _comparable_actuators(self):
        """Whether all actuators are of the kinds that rattleback has."""
        m = self.m
        for a in range(m.nu):
            kind = mujoco.mjtTrn(m.actuator_trntype[a])
            muscle = m.actuator_gaintype[a] == mujoco.mjtGain.mjGAIN_MUSCLE
            if muscle or kind == mujoco.mjtTrn.mjTRN_BODY:
                self.without.append("actuators")
                return False
        return True

    def sizes(self):
        m = self.m
        return {"bodies": m.nbody - 1, "joints": m.njnt, "nq": m.nq, "nv": m.nv,
                "mass": float(np.sum(m.body_mass))}

    def evaluate(self, state, points):
        """points: (body index, position in its frame)."""
        m, d = self.m, self.d
        mujoco.mj_resetData(m, d)
        d.qpos[:], d.qvel[:] = state["qpos"], state["qvel"]
        if self.actuators and m.nu:
            d.ctrl[:] = state["ctrl"]
            if m.na:
                d.act[:] = state["act"]
        d.qfrc_applied[:] = state["tau"]
        mujoco.mj_forward(m, d)
        mass = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, d, mass)
        jacobian, angular = [], []
        for body, pos in points:
            world = d.xpos[body] + d.xmat[body].reshape(3, 3) @ pos
            linear, turning = np.zeros((3, m.nv)), np.zeros((3, m.nv))
            mujoco.mj_jac(m, d, linear, turning, world, body)
            jacobian.append(linear)
            angular.append(turning)
        return {"mass": mass, "bias": d.qfrc_bias.copy(), "passive": d.qfrc_passive.copy(),
                "actuation": d.qfrc_actuator.copy() if self.actuators and not self.dropped else None,
                "fd": None if self.dropped else d.qacc_smooth.copy(), "pos": d.xpos[1:].copy(),
                "rot": d.xmat[1:].reshape(-1, 3, 3).copy(), "com": d.subtree_com[0].copy(),
                "kinetic": d.energy[1], "potential": d.energy[0],
                "jacobian": np.vstack(jacobian), "jacobian_angular": np.vstack(angular)}
