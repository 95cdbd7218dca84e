"""What Pinocchio says about the states of a URDF model.

Pinocchio orders joints its own way, writes quaternions x y z w, angles of continuous joints as
cosine and sine, and velocities of a free base in the axes of the base. With v = B v_world, B =
diag(R', 1, 1), forces become B' f and the linear acceleration gets -w x v in addition."""
import math
import xml.etree.ElementTree as xml

import numpy as np
import pinocchio as pin


def dampings(path):
    """Joint name -> damping of its <dynamics>."""
    answer = {}
    for joint in xml.parse(path).getroot().findall("joint"):
        dynamics = joint.find("dynamics")
        if dynamics is not None:
            answer[joint.get("name")] = float(dynamics.get("damping", 0))
    return answer


class Side:
    def __init__(self, path, joints, bodies, floating):
        """joints, bodies: as `rattleback info --json` lists them."""
        root = [pin.JointModelFreeFlyer()] if floating else []
        self.m = pin.buildModelFromUrdf(path, *root)
        self.m.gravity.linear = np.array([0, 0, -9.81])
        self.d = self.m.createData()
        self.joints, self.bodies, self.floating = joints, bodies, floating
        self.damping = dampings(path)
        self.without = []

    def sizes(self):
        mass = sum(i.mass for i in self.m.inertias)
        return {"joints": self.m.njoints - 1, "nv": self.m.nv, "mass": mass}

    def _id(self, joint):
        return 1 if joint["type"] == "free" else self.m.getJointId(joint["name"])

    def _columns(self):
        """For each of our dofs, Pinocchio's."""
        columns = np.zeros(self.m.nv, dtype=int)
        for joint in self.joints:
            count = 6 if joint["type"] == "free" else 1
            start = self.m.idx_vs[self._id(joint)]
            columns[joint["dof"]:joint["dof"] + count] = range(start, start + count)
        return columns

    def _configuration(self, qpos):
        q = pin.neutral(self.m)
        for joint in self.joints:
            k, at = self._id(joint), joint["qpos"]
            start, size = self.m.idx_qs[k], self.m.nqs[k]
            if joint["type"] == "free":
                w, x, y, z = qpos[at + 3:at + 7]
                q[start:start + 7] = [*qpos[at:at + 3], x, y, z, w]
            elif size == 2:
                q[start:start + 2] = math.cos(qpos[at]), math.sin(qpos[at])
            else:
                q[start] = qpos[at]
        return q

    def _com(self, q):
        """Links fixed to the world are in inertia 0, which centerOfMass leaves out."""
        fixed = self.m.inertias[0]
        moving = sum(i.mass for i in self.m.inertias) - fixed.mass
        com = pin.centerOfMass(self.m, self.d, q)
        return (moving * com + fixed.mass * fixed.lever) / (moving + fixed.mass)

    def evaluate(self, state, points):
        m, d = self.m, self.d
        columns = self._columns()
        q = self._configuration(state["qpos"])
        B = np.eye(m.nv)
        twist = np.zeros(m.nv)
        if self.floating:
            R = pin.Quaternion(q[3:7]).toRotationMatrix()
            B[:3, :3] = R.T

        # ours -> theirs, then into the axes of the base
        def theirs(x):
            y = np.zeros(m.nv)
            y[columns] = x
            return y

        v = B @ theirs(state["qvel"])
        if self.floating:
            twist[:3] = -np.cross(v[3:6], v[:3])
        damping = np.zeros(m.nv)
        for joint in self.joints:
            damping[joint["dof"]] = self.damping.get(joint["name"], 0)
        passive = -damping * np.array(state["qvel"])
        tau = np.linalg.solve(B.T, theirs(np.array(state["tau"]) + passive))

        M = pin.crba(m, d, q)
        M = np.triu(M) + np.triu(M, 1).T
        bias = pin.nonLinearEffects(m, d, q, v) + M @ twist
        qacc = np.linalg.solve(B, pin.aba(m, d, q, v, tau) - twist)
        answer = {"mass": (B.T @ M @ B)[np.ix_(columns, columns)], "bias": (B.T @ bias)[columns],
                  "passive": passive, "actuation": None, "fd": qacc[columns],
                  "com": self._com(q), "kinetic": pin.computeKineticEnergy(m, d, q, v),
                  "potential": None}
        answer.update(self._frames(q))
        answer.update(self._jacobians(q, points, B, columns))
        return answer

    def _frames(self, q):
        m, d = self.m, self.d
        pin.framesForwardKinematics(m, d, q)
        frames = [d.oMf[m.getFrameId(b["name"], pin.BODY)] for b in self.bodies]
        return {"pos": np.array([f.translation for f in frames]),
                "rot": np.array([f.rotation for f in frames])}

    def _jacobians(self, q, points, B, columns):
        m, d = self.m, self.d
        pin.computeJointJacobians(m, d, q)
        pin.updateFramePlacements(m, d)
        linear, angular = [], []
        for body, pos in points:
            frame = m.getFrameId(self.bodies[body - 1]["name"], pin.BODY)
            J = pin.getFrameJacobian(m, d, frame, pin.LOCAL_WORLD_ALIGNED) @ B
            arm = d.oMf[frame].rotation @ pos
            linear.append((J[:3] - pin.skew(arm) @ J[3:])[:, columns])
            angular.append(J[3:][:, columns])
        return {"jacobian": np.vstack(linear), "jacobian_angular": np.vstack(angular)}
