// Pinocchio's articulated-body algorithm on the same mechanism: a joint per joint, of the aligned
// type where the axis is one of the coordinate axes, as its URDF reader does. Several joints of one
// link become joints with bodies without mass in between.
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/multibody.hpp>
#include <pinocchio/spatial.hpp>

#include <memory>
#include <vector>

#include "others.h"

namespace
{

using pinocchio::SE3;
using Eigen::Vector3d;
using Eigen::VectorXd;

struct Engine {
    const rb_model *m;
    pinocchio::Model model;
    std::unique_ptr<pinocchio::Data> data;
    std::vector<pinocchio::JointIndex> joint; // of each joint of m
    std::vector<VectorXd> q, v, tau;
};

// ---- the model ---------------------------------------------------------------------------------

Vector3d vector(const double *x)
{
    return Vector3d(x[0], x[1], x[2]);
}

SE3 translation(const Vector3d &p)
{
    return SE3(Eigen::Matrix3d::Identity(), p);
}

SE3 link_pose(const rb_model *m, int link)
{
    const double *q = m->link_quat + 4 * link;
    return SE3(Eigen::Quaterniond(q[0], q[1], q[2], q[3]).toRotationMatrix(),
               vector(m->link_pos + 3 * link));
}

pinocchio::JointModel scalar_joint(int type, const Vector3d &axis)
{
    const bool turns = type == RB_JOINT_HINGE;
    if (axis == Vector3d::UnitX())
        return turns ? pinocchio::JointModel(pinocchio::JointModelRX())
                     : pinocchio::JointModel(pinocchio::JointModelPX());
    if (axis == Vector3d::UnitY())
        return turns ? pinocchio::JointModel(pinocchio::JointModelRY())
                     : pinocchio::JointModel(pinocchio::JointModelPY());
    if (axis == Vector3d::UnitZ())
        return turns ? pinocchio::JointModel(pinocchio::JointModelRZ())
                     : pinocchio::JointModel(pinocchio::JointModelPZ());
    return turns ? pinocchio::JointModel(pinocchio::JointModelRevoluteUnaligned(axis))
                 : pinocchio::JointModel(pinocchio::JointModelPrismaticUnaligned(axis));
}

pinocchio::JointModel joint_model(const rb_model *m, int j)
{
    switch (m->jnt_type[j]) {
    case RB_JOINT_FREE:
        return pinocchio::JointModelFreeFlyer();
    case RB_JOINT_BALL:
        return pinocchio::JointModelSpherical();
    default:
        return scalar_joint(m->jnt_type[j], vector(m->jnt_axis + 3 * j));
    }
}

pinocchio::Inertia link_inertia(const rb_model *m, int link, const Vector3d &anchor)
{
    const double *I = m->link_inertia + 6 * link; // xx yy zz xy xz yz
    Eigen::Matrix3d full;
    full << I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2];
    return pinocchio::Inertia(m->link_mass[link], vector(m->link_com + 3 * link) - anchor, full);
}

/* The joints of one link; `frame` of a link is where its frame lies in its last joint. */
void add_link(Engine &e, int link, std::vector<pinocchio::JointIndex> &last,
              std::vector<SE3> &frame)
{
    const rb_model *m = e.m;
    const int parent = m->link_parent[link];
    pinocchio::JointIndex at = last[parent];
    SE3 placement = frame[parent] * link_pose(m, link);
    Vector3d anchor = Vector3d::Zero();
    for (int k = 0; k < m->link_jntnum[link]; k++) {
        const int j = m->link_jntadr[link] + k;
        if (m->jnt_type[j] == RB_JOINT_FREE) {
            placement = SE3::Identity(); // qpos of a free joint is absolute
        } else {
            const Vector3d next = vector(m->jnt_pos + 3 * j);
            placement = placement * translation(next - anchor);
            anchor = next;
        }
        at = e.model.addJoint(at, joint_model(m, j), placement, "joint" + std::to_string(j));
        e.joint[j] = at;
        placement = SE3::Identity();
    }
    e.model.appendBodyToJoint(at, link_inertia(m, link, anchor), SE3::Identity());
    last[link] = at;
    frame[link] = translation(-anchor);
}

int dofs(int type)
{
    return type == RB_JOINT_FREE ? 6 : type == RB_JOINT_BALL ? 3 : 1;
}

void *make(const rb_model *m)
{
    auto e = std::make_unique<Engine>();
    e->m = m;
    e->joint.resize(m->njnt);
    std::vector<pinocchio::JointIndex> last(m->nlink, 0);
    std::vector<SE3> frame(m->nlink, SE3::Identity());
    for (int k = 1; k < m->nlink; k++) {
        if (m->link_jntnum[k] == 0) return nullptr;
        add_link(*e, k, last, frame);
    }
    e->model.gravity.linear() = vector(m->option.gravity);
    for (int j = 0; j < m->njnt; j++)
        for (int i = 0; i < dofs(m->jnt_type[j]); i++)
            e->model.armature[e->model.joints[e->joint[j]].idx_v() + i] =
                m->dof_armature[m->jnt_dofadr[j] + i];
    e->data = std::make_unique<pinocchio::Data>(e->model);
    e->q.resize(RB_SIDE_STATES);
    e->v.resize(RB_SIDE_STATES);
    e->tau.resize(RB_SIDE_STATES);
    return e.release();
}

// ---- states: quaternions x y z w, free velocities in the axes of the body ------------------------

Eigen::Matrix3d rotation_of(const VectorXd &q, int at)
{
    return Eigen::Quaterniond(q[at + 6], q[at + 3], q[at + 4], q[at + 5]).toRotationMatrix();
}

void put_quaternion(VectorXd &q, int at, const double *wxyz)
{
    q.segment<4>(at) << wxyz[1], wxyz[2], wxyz[3], wxyz[0];
}

void give(void *handle, int k, const double *q, const double *v, const double *tau)
{
    Engine &e = *static_cast<Engine *>(handle);
    VectorXd &theirs = e.q[k];
    theirs.resize(e.model.nq);
    e.v[k].resize(e.model.nv);
    e.tau[k].resize(e.model.nv);
    for (int j = 0; j < e.m->njnt; j++) {
        const auto &joint = e.model.joints[e.joint[j]];
        const double *from = q + e.m->jnt_qadr[j];
        const int at = joint.idx_q(), dof = e.m->jnt_dofadr[j], type = e.m->jnt_type[j];
        for (int i = 0; i < dofs(type); i++) {
            e.v[k][joint.idx_v() + i] = v[dof + i];
            e.tau[k][joint.idx_v() + i] = tau[dof + i];
        }
        if (type == RB_JOINT_BALL) {
            put_quaternion(theirs, at, from);
        } else if (type == RB_JOINT_FREE) {
            theirs.segment<3>(at) = vector(from);
            put_quaternion(theirs, at + 3, from + 3);
            const Eigen::Matrix3d R = rotation_of(theirs, at);
            e.v[k].segment<3>(joint.idx_v()) = R.transpose() * vector(v + dof);
            e.tau[k].segment<3>(joint.idx_v()) = R.transpose() * vector(tau + dof);
        } else {
            theirs[at] = from[0] - e.m->jnt_ref[j];
        }
    }
}

void take(void *handle, int k, double *qdd)
{
    Engine &e = *static_cast<Engine *>(handle);
    const VectorXd &ddq = e.data->ddq;
    for (int j = 0; j < e.m->njnt; j++) {
        const auto &joint = e.model.joints[e.joint[j]];
        const int at = joint.idx_v(), dof = e.m->jnt_dofadr[j];
        for (int i = 0; i < dofs(e.m->jnt_type[j]); i++) qdd[dof + i] = ddq[at + i];
        if (e.m->jnt_type[j] != RB_JOINT_FREE) continue;
        const Vector3d v = e.v[k].segment<3>(at), w = e.v[k].segment<3>(at + 3);
        const Vector3d a =
            rotation_of(e.q[k], joint.idx_q()) * (ddq.segment<3>(at) + w.cross(v));
        for (int i = 0; i < 3; i++) qdd[dof + i] = a[i];
    }
}

void run_local(void *handle, int k)
{
    Engine &e = *static_cast<Engine *>(handle);
    pinocchio::aba(e.model, *e.data, e.q[k], e.v[k], e.tau[k], pinocchio::Convention::LOCAL);
}

void run_world(void *handle, int k)
{
    Engine &e = *static_cast<Engine *>(handle);
    pinocchio::aba(e.model, *e.data, e.q[k], e.v[k], e.tau[k], pinocchio::Convention::WORLD);
}

void release(void *handle)
{
    delete static_cast<Engine *>(handle);
}

const rb_side local_side = { "pinocchio local" SIDE_SUFFIX, make, give, run_local, take, release };
const rb_side world_side = { "pinocchio world" SIDE_SUFFIX, make, give, run_world, take, release };
const rb_side *const sides[] = { &local_side, &world_side, nullptr };

} // namespace

extern "C" __attribute__((visibility("default"))) const rb_side *const *pinocchio_sides(void)
{
    return sides;
}
