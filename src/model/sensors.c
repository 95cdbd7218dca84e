/* Sensors: what each type is called, how many numbers it has, and the compiled arrays. */
#include "model/build.h"
#include "model/layout.h"

typedef struct sensor_kind {
    const char *word; /* in MJCF                                               */
    int dim;          /* 0: as the definition says                             */
    rb_sensor_data data;
} sensor_kind;

// clang-format off
static const sensor_kind kinds[RB_NSENSOR] = {
    [RB_SENSOR_TOUCH]             = { "touch",             1, RB_SENSOR_POSITIVE },
    [RB_SENSOR_ACCELEROMETER]     = { "accelerometer",     3, RB_SENSOR_REAL },
    [RB_SENSOR_VELOCIMETER]       = { "velocimeter",       3, RB_SENSOR_REAL },
    [RB_SENSOR_GYRO]              = { "gyro",              3, RB_SENSOR_REAL },
    [RB_SENSOR_FORCE]             = { "force",             3, RB_SENSOR_REAL },
    [RB_SENSOR_TORQUE]            = { "torque",            3, RB_SENSOR_REAL },
    [RB_SENSOR_MAGNETOMETER]      = { "magnetometer",      3, RB_SENSOR_REAL },
    [RB_SENSOR_RANGEFINDER]       = { "rangefinder",       0, RB_SENSOR_REAL },
    [RB_SENSOR_JOINTPOS]          = { "jointpos",          1, RB_SENSOR_REAL },
    [RB_SENSOR_JOINTVEL]          = { "jointvel",          1, RB_SENSOR_REAL },
    [RB_SENSOR_TENDONPOS]         = { "tendonpos",         1, RB_SENSOR_REAL },
    [RB_SENSOR_TENDONVEL]         = { "tendonvel",         1, RB_SENSOR_REAL },
    [RB_SENSOR_ACTUATORPOS]       = { "actuatorpos",       1, RB_SENSOR_REAL },
    [RB_SENSOR_ACTUATORVEL]       = { "actuatorvel",       1, RB_SENSOR_REAL },
    [RB_SENSOR_ACTUATORFRC]       = { "actuatorfrc",       1, RB_SENSOR_REAL },
    [RB_SENSOR_JOINTACTUATORFRC]  = { "jointactuatorfrc",  1, RB_SENSOR_REAL },
    [RB_SENSOR_TENDONACTUATORFRC] = { "tendonactuatorfrc", 1, RB_SENSOR_REAL },
    [RB_SENSOR_BALLQUAT]          = { "ballquat",          4, RB_SENSOR_QUATERNION },
    [RB_SENSOR_BALLANGVEL]        = { "ballangvel",        3, RB_SENSOR_REAL },
    [RB_SENSOR_JOINTLIMITPOS]     = { "jointlimitpos",     1, RB_SENSOR_REAL },
    [RB_SENSOR_JOINTLIMITVEL]     = { "jointlimitvel",     1, RB_SENSOR_REAL },
    [RB_SENSOR_JOINTLIMITFRC]     = { "jointlimitfrc",     1, RB_SENSOR_POSITIVE },
    [RB_SENSOR_TENDONLIMITPOS]    = { "tendonlimitpos",    1, RB_SENSOR_REAL },
    [RB_SENSOR_TENDONLIMITVEL]    = { "tendonlimitvel",    1, RB_SENSOR_REAL },
    [RB_SENSOR_TENDONLIMITFRC]    = { "tendonlimitfrc",    1, RB_SENSOR_POSITIVE },
    [RB_SENSOR_FRAMEPOS]          = { "framepos",          3, RB_SENSOR_REAL },
    [RB_SENSOR_FRAMEQUAT]         = { "framequat",         4, RB_SENSOR_QUATERNION },
    [RB_SENSOR_FRAMEXAXIS]        = { "framexaxis",        3, RB_SENSOR_AXIS },
    [RB_SENSOR_FRAMEYAXIS]        = { "frameyaxis",        3, RB_SENSOR_AXIS },
    [RB_SENSOR_FRAMEZAXIS]        = { "framezaxis",        3, RB_SENSOR_AXIS },
    [RB_SENSOR_FRAMELINVEL]       = { "framelinvel",       3, RB_SENSOR_REAL },
    [RB_SENSOR_FRAMEANGVEL]       = { "frameangvel",       3, RB_SENSOR_REAL },
    [RB_SENSOR_FRAMELINACC]       = { "framelinacc",       3, RB_SENSOR_REAL },
    [RB_SENSOR_FRAMEANGACC]       = { "frameangacc",       3, RB_SENSOR_REAL },
    [RB_SENSOR_SUBTREECOM]        = { "subtreecom",        3, RB_SENSOR_REAL },
    [RB_SENSOR_SUBTREELINVEL]     = { "subtreelinvel",     3, RB_SENSOR_REAL },
    [RB_SENSOR_SUBTREEANGMOM]     = { "subtreeangmom",     3, RB_SENSOR_REAL },
    [RB_SENSOR_INSIDESITE]        = { "insidesite",        1, RB_SENSOR_POSITIVE },
    [RB_SENSOR_DISTANCE]          = { "distance",          1, RB_SENSOR_POSITIVE },
    [RB_SENSOR_NORMAL]            = { "normal",            3, RB_SENSOR_AXIS },
    [RB_SENSOR_FROMTO]            = { "fromto",            6, RB_SENSOR_REAL },
    [RB_SENSOR_CONTACT]           = { "contact",           0, RB_SENSOR_REAL },
    [RB_SENSOR_E_POTENTIAL]       = { "e_potential",       1, RB_SENSOR_REAL },
    [RB_SENSOR_E_KINETIC]         = { "e_kinetic",         1, RB_SENSOR_REAL },
    [RB_SENSOR_CLOCK]             = { "clock",             1, RB_SENSOR_REAL },
    [RB_SENSOR_USER]              = { "user",              0, RB_SENSOR_REAL },
    [RB_SENSOR_CAMPROJECTION]     = { "camprojection",     2, RB_SENSOR_REAL },
};
// clang-format on

const char *rb_sensor_word(rb_sensor_type type)
{
    return type >= 0 && type < RB_NSENSOR ? kinds[type].word : "sensor";
}

rb_sensor_data rb_sensor_datatype(rb_sensor_type type)
{
    return type >= 0 && type < RB_NSENSOR ? kinds[type].data : RB_SENSOR_REAL;
}

int rb_contact_slot(int data)
{
    static const int width[9] = { 1, 3, 3, 1, 3, 3, 3, 3, 3 };
    int count = 0;
    for (int i = 0; i < 9; i++) count += data >> i & 1 ? width[i] : 0;
    return count;
}

static int range_dim(int data)
{
    int count = (data & RB_RANGE_DIST ? 1 : 0) + (data & RB_RANGE_DEPTH ? 1 : 0);
    for (int bit = RB_RANGE_DIR; bit <= RB_RANGE_NORMAL; bit *= 2) count += data & bit ? 3 : 0;
    return count;
}

static int dim_of(const rb_build *b, const rb_sensor_def *def)
{
    switch (def->type) {
    case RB_SENSOR_ACTUATORPOS:
    case RB_SENSOR_ACTUATORVEL:
    case RB_SENSOR_ACTUATORFRC:
        return rb_actuator_outputs(RB_DEFS(b, actuator, ACTUATOR) + def->index);
    case RB_SENSOR_RANGEFINDER:
        return range_dim(def->data);
    case RB_SENSOR_CONTACT:
        return def->num * rb_contact_slot(def->data);
    case RB_SENSOR_USER:
        return def->dim;
    default:
        return kinds[def->type].dim;
    }
}

/* Time of the last sample, then times, then values; one sample more than nsample, so that the
 * present one does not replace one that is still needed. */
static int past_of(const rb_build *b, const rb_sensor_def *def)
{
    return def->nsample > 0 ? 1 + (def->nsample + 1) * (1 + dim_of(b, def)) : 0;
}

rb_status rb_size_sensors(rb_build *b)
{
    rb_model *m = b->m;
    m->nsensor = b->spec->list[RB_KIND_SENSOR].count;
    for (int i = 0; i < m->nsensor; i++) {
        const rb_sensor_def *def = RB_DEFS(b, sensor, SENSOR) + i;
        int more = dim_of(b, def), past = past_of(b, def);
        if (more > RB_SENSOR_MOST - m->nsensordata || past > RB_SENSOR_MOST - m->nsensorpast) {
            return rb_refuse(def, RB_KIND_SENSOR, i, b->err,
                             "the sensors of the model have more than %d numbers", RB_SENSOR_MOST);
        }
        m->nsensordata += more;
        m->nsensorpast += past;
    }
    return RB_OK;
}

static int in_model(const rb_build *b, rb_object object, int index)
{
    if (index < 0) return index;
    if (object == RB_OBJECT_JOINT) return b->joints.at[index];
    return object == RB_OBJECT_GEOM ? b->geoms.at[index] : index;
}

static void fill_times(rb_model *m, int i, const rb_sensor_def *def)
{
    m->sensor_cutoff[i] = def->cutoff;
    memcpy(m->sensor_picture + 4 * (ptrdiff_t)i, def->picture, sizeof def->picture);
    m->sensor_noise[i] = def->noise;
    m->sensor_delay[i] = def->delay;
    m->sensor_interval[i] = def->interval;
    m->sensor_phase[i] = def->phase;
    m->sensor_nsample[i] = def->nsample;
    m->sensor_interpolate[i] = def->interpolate;
}

void rb_fill_sensors(rb_build *b)
{
    rb_model *m = b->m;
    int adr = 0, past = 0;
    for (int i = 0; i < m->nsensor; i++) {
        const rb_sensor_def *def = RB_DEFS(b, sensor, SENSOR) + i;
        m->sensor_type[i] = (int)def->type;
        m->sensor_object[i] = (int)def->object;
        m->sensor_index[i] = in_model(b, def->object, def->index);
        m->sensor_reference[i] = (int)def->reference;
        m->sensor_reference_index[i] = in_model(b, def->reference, def->reference_index);
        m->sensor_site[i] = def->site;
        m->sensor_data[i] = def->data;
        m->sensor_num[i] = def->num;
        m->sensor_reduce[i] = (int)def->reduce;
        m->sensor_adr[i] = adr;
        m->sensor_dim[i] = dim_of(b, def);
        m->sensor_pastadr[i] = def->nsample > 0 ? past : -1;
        fill_times(m, i, def);
        adr += m->sensor_dim[i];
        past += past_of(b, def);
    }
}

/* Samples of zeros before time 0, so that what is delayed begins with zeros. */
void rb_sensor_past_reset(const rb_model *m, rb_data *d)
{
    for (int i = 0; i < m->nsensorpast; i++) d->sensor_past[i] = 0.0;
    for (int i = 0; i < m->nsensor; i++) {
        if (m->sensor_pastadr[i] < 0) continue;
        double *past = d->sensor_past + m->sensor_pastadr[i];
        double interval = m->sensor_interval[i], phase = m->sensor_phase[i];
        double dt = interval > 0.0 ? interval : m->option.timestep;
        past[0] = phase < 0.0 ? phase : -dt;
        for (int k = 0; k <= m->sensor_nsample[i]; k++)
            past[1 + k] = past[0] - dt * (m->sensor_nsample[i] - k);
    }
}
