/* The grammar of MJCF: which elements may be in which, and their attributes. Names are those of the
 * XML reference of MuJoCo 4; the last words of some lists are older spellings that published models
 * still use. Included by mjcf_schema.c alone. */
#ifndef RATTLEBACK_SRC_IO_MJCF_TABLES_H
#define RATTLEBACK_SRC_IO_MJCF_TABLES_H

#include <stddef.h>

/* What may be inside an element. */
typedef enum inside {
    IN_NOTHING = 0,
    IN_ANYTHING, /* not read: refused or ignored as a whole */
    IN_ROOT,
    IN_COMPILER,
    IN_OPTION,
    IN_VISUAL,
    IN_DEFAULT,
    IN_ASSET,
    IN_BODY,
    IN_PLUGIN,
    IN_MATERIAL,
    IN_SKIN,
    IN_DEFORMABLE,
    IN_CONTACT,
    IN_TENDON,
    IN_SPATIAL,
    IN_FIXED,
    IN_EQUALITY,
    IN_ACTUATOR,
    IN_SENSOR,
    IN_CUSTOM,
    IN_TUPLE,
    IN_KEYFRAME,
    IN_COUNT
} inside;

typedef struct element {
    const char *name;
    inside content;
    int once;          /* at most one of it in its parent */
    const char *attrs; /* separated by blanks             */
} element;

/* clang-format off */

static const element root_elements[] = {
    { "compiler", IN_COMPILER, 0,
      "autolimits boundmass boundinertia settotalmass balanceinertia strippath coordinate angle "
      "fitaabb eulerseq meshdir texturedir discardvisual usethread fusestatic inertiafromgeom "
      "inertiagrouprange saveinertial assetdir alignfree conflict exactmeshinertia convexhull" },
    { "option", IN_OPTION, 0,
      "timestep impratio tolerance ls_tolerance noslip_tolerance ccd_tolerance sleep_tolerance "
      "gravity wind magnetic density viscosity o_margin o_solref o_solimp o_friction integrator "
      "cone jacobian solver iterations ls_iterations noslip_iterations ccd_iterations "
      "sdf_iterations sdf_initpoints actuatorgroupdisable apirate collision" },
    { "size", IN_NOTHING, 0,
      "memory njmax nconmax nstack nuserdata nkey nuser_body nuser_jnt nuser_geom nuser_site "
      "nuser_cam nuser_tendon nuser_actuator nuser_sensor" },
    { "statistic", IN_NOTHING, 0,
      "meaninertia meanmass meansize extent center" },
    { "visual", IN_VISUAL, 0, "" },
    { "default", IN_DEFAULT, 0, "class" },
    { "extension", IN_ANYTHING, 0, "" },
    { "asset", IN_ASSET, 0, "" },
    { "worldbody", IN_BODY, 0, "" },
    { "body", IN_BODY, 0,
      "name childclass pos quat axisangle xyaxes zaxis euler mocap gravcomp sleep simple user" },
    { "deformable", IN_DEFORMABLE, 0, "" },
    { "contact", IN_CONTACT, 0, "" },
    { "tendon", IN_TENDON, 0, "" },
    { "equality", IN_EQUALITY, 0, "" },
    { "actuator", IN_ACTUATOR, 0, "" },
    { "sensor", IN_SENSOR, 0, "" },
    { "custom", IN_CUSTOM, 0, "" },
    { "keyframe", IN_KEYFRAME, 0, "" },
    { NULL, IN_NOTHING, 0, NULL }
};

static const element compiler_elements[] = {
    { "lengthrange", IN_NOTHING, 1,
      "mode useexisting uselimit accel maxforce timeconst timestep inttotal interval tolrange" },
    { NULL, IN_NOTHING, 0, NULL }
};

static const element option_elements[] = {
    { "flag", IN_NOTHING, 1,
      "constraint equality frictionloss limit contact spring damper gravity clampctrl warmstart "
      "filterparent actuation refsafe sensor midphase eulerdamp autoreset nativeccd island "
      "multiccd override energy fwdinv invdiscrete sleep diagexact passive" },
    { NULL, IN_NOTHING, 0, NULL }
};

static const element visual_elements[] = {
    { "global", IN_NOTHING, 1,
      "cameraid orthographic fovy ipd azimuth elevation linewidth glow offwidth offheight "
      "realtime ellipsoidinertia bvactive" },
    { "quality", IN_NOTHING, 1,
      "shadowsize offsamples numslices numstacks numquads" },
    { "headlight", IN_NOTHING, 1,
      "ambient diffuse specular active" },
    { "map", IN_NOTHING, 1,
      "stiffness stiffnessrot force torque alpha fogstart fogend znear zfar haze shadowclip "
      "shadowscale actuatortendon" },
    { "scale", IN_NOTHING, 1,
      "forcewidth contactwidth contactheight connect com camera light selectpoint jointlength "
      "jointwidth actuatorlength actuatorwidth framelength framewidth constraint slidercrank "
      "frustum" },
    { "rgba", IN_NOTHING, 1,
      "fog haze force inertia joint actuator actuatornegative actuatorpositive com camera light "
      "selectpoint connect contactpoint contactforce contactfriction contacttorque contactgap "
      "rangefinder constraint slidercrank crankbroken frustum bv bvactive" },
    { NULL, IN_NOTHING, 0, NULL }
};

static const element default_elements[] = {
    { "default", IN_DEFAULT, 0, "class" },
    { "mesh", IN_NOTHING, 1,
      "scale maxhullvert inertia" },
    { "material", IN_MATERIAL, 1,
      "texture texrepeat texuniform emission specular shininess reflectance metallic roughness "
      "rgba" },
    { "joint", IN_NOTHING, 1,
      "type group pos axis springdamper limited actuatorfrclimited solreflimit solimplimit "
      "solreffriction solimpfriction stiffness range actuatorfrcrange actuatorgravcomp margin ref "
      "springref armature damping frictionloss user" },
    { "geom", IN_NOTHING, 1,
      "type contype conaffinity condim group priority size material friction mass density "
      "shellinertia solmix solref solimp margin gap surfacevel adhesion fromto pos quat axisangle "
      "xyaxes zaxis euler hfield mesh fitscale rgba fluidshape fluidcoef user" },
    { "site", IN_NOTHING, 1,
      "type group pos quat axisangle xyaxes zaxis euler material size fromto rgba user" },
    { "camera", IN_NOTHING, 1,
      "projection fovy ipd resolution output pos quat axisangle xyaxes zaxis euler mode focal "
      "focalpixel principal principalpixel sensorsize user" },
    { "light", IN_NOTHING, 1,
      "directional type castshadow active pos dir bulbradius intensity range attenuation cutoff "
      "softness exponent ambient diffuse specular mode" },
    { "pair", IN_NOTHING, 1,
      "condim friction solref solreffriction solimp gap margin adhesion" },
    { "equality", IN_NOTHING, 1,
      "active solref solimp" },
    { "tendon", IN_NOTHING, 1,
      "group limited range solreflimit solimplimit solreffriction solimpfriction frictionloss "
      "springlength width material margin stiffness damping rgba user" },
    { "general", IN_NOTHING, 1,
      "group nsample interp delay ctrlrange user ctrllimited forcelimited actlimited forcerange "
      "actrange gear damping armature cranklength actdim input velrange ffrange dyntype gaintype "
      "biastype dynprm gainprm biasprm actearly" },
    { "motor", IN_NOTHING, 1,
      "group nsample interp delay ctrlrange user ctrllimited forcelimited forcerange gear damping "
      "armature cranklength" },
    { "position", IN_NOTHING, 1,
      "group nsample interp delay ctrlrange user ctrllimited forcelimited inheritrange forcerange "
      "gear damping armature cranklength kp kv dampratio timeconst" },
    { "velocity", IN_NOTHING, 1,
      "group nsample interp delay ctrlrange user ctrllimited forcelimited forcerange gear damping "
      "armature cranklength kv" },
    { "intvelocity", IN_NOTHING, 1,
      "group nsample interp delay ctrlrange user ctrllimited forcelimited actlimited forcerange "
      "actrange inheritrange gear damping armature cranklength kp kv dampratio" },
    { "orientation", IN_NOTHING, 1,
      "group nsample interp delay ctrlrange user forcelimited forcerange kp kv dampratio input" },
    { "pid", IN_NOTHING, 1,
      "group nsample interp delay ctrlrange user ctrllimited forcelimited posrange velrange "
      "ffrange forcerange inheritrange gear damping armature cranklength kp kv dampratio ki imax "
      "slewmax input" },
    { "damper", IN_NOTHING, 1,
      "group nsample interp delay ctrlrange user forcelimited forcerange gear damping armature "
      "cranklength kv" },
    { "cylinder", IN_NOTHING, 1,
      "group nsample interp delay ctrlrange user ctrllimited forcelimited forcerange gear damping "
      "armature cranklength timeconst area diameter bias" },
    { "muscle", IN_NOTHING, 1,
      "group nsample interp delay ctrlrange user ctrllimited forcelimited forcerange gear damping "
      "armature cranklength timeconst range force scale lmin lmax vmax fpmax fvmax" },
    { "adhesion", IN_NOTHING, 1,
      "group nsample interp delay ctrlrange user forcelimited forcerange gain" },
    { "dcmotor", IN_NOTHING, 1,
      "group nsample interp delay ctrlrange user ctrllimited gear damping armature cranklength "
      "motorconst resistance nominal saturation inductance cogging controller thermal "
      "lugre input" },
    { NULL, IN_NOTHING, 0, NULL }
};

static const element asset_elements[] = {
    { "mesh", IN_PLUGIN, 0,
      "name class content_type file vertex normal texcoord face refpos refquat scale smoothnormal "
      "maxhullvert inertia builtin params material" },
    { "hfield", IN_NOTHING, 0,
      "name content_type file nrow ncol size elevation" },
    { "skin", IN_SKIN, 0,
      "name file material rgba inflate vertex texcoord face group" },
    { "texture", IN_NOTHING, 0,
      "name type colorspace content_type file gridsize gridlayout fileright fileleft fileup "
      "filedown filefront fileback builtin rgb1 rgb2 mark markrgb random width height hflip vflip "
      "nchannel" },
    { "material", IN_MATERIAL, 0,
      "name class texture texrepeat texuniform emission specular shininess reflectance metallic "
      "roughness rgba" },
    { "model", IN_NOTHING, 0,
      "name file content_type" },
    { NULL, IN_NOTHING, 0, NULL }
};

static const element body_elements[] = {
    { "body", IN_BODY, 0,
      "name childclass pos quat axisangle xyaxes zaxis euler mocap gravcomp sleep simple user" },
    { "frame", IN_BODY, 0,
      "name childclass pos quat axisangle xyaxes zaxis euler" },
    { "replicate", IN_BODY, 0,
      "count sep offset euler childclass prefix" },
    { "inertial", IN_NOTHING, 1,
      "pos quat mass diaginertia axisangle xyaxes zaxis euler fullinertia" },
    { "joint", IN_NOTHING, 0,
      "name class type group pos axis springdamper limited actuatorfrclimited solreflimit "
      "solimplimit solreffriction solimpfriction stiffness range actuatorfrcrange "
      "actuatorgravcomp margin ref springref armature damping frictionloss user" },
    { "freejoint", IN_NOTHING, 0,
      "name group align" },
    { "geom", IN_PLUGIN, 0,
      "name class type contype conaffinity condim group priority size material friction mass "
      "density shellinertia solmix solref solimp margin gap surfacevel adhesion fromto pos quat "
      "axisangle xyaxes zaxis euler hfield mesh fitscale rgba fluidshape fluidcoef user" },
    { "attach", IN_NOTHING, 0,
      "model body frame prefix" },
    { "site", IN_NOTHING, 0,
      "name class type group pos quat axisangle xyaxes zaxis euler material size fromto "
      "rgba user" },
    { "camera", IN_NOTHING, 0,
      "name class projection fovy ipd resolution output pos quat axisangle xyaxes zaxis euler "
      "mode target focal focalpixel principal principalpixel sensorsize user" },
    { "light", IN_NOTHING, 0,
      "name class directional type castshadow active pos dir bulbradius intensity range "
      "attenuation cutoff softness exponent ambient diffuse specular mode target texture" },
    { "plugin", IN_ANYTHING, 0,
      "plugin instance" },
    { "composite", IN_ANYTHING, 0,
      "prefix type count offset vertex initial curve size quat" },
    { "flexcomp", IN_ANYTHING, 0,
      "name type group dim dof count cellcount spacing radius rigid mass inertiabox scale file "
      "point element texcoord material rgba flatskin pos quat axisangle xyaxes zaxis "
      "euler origin" },
    { NULL, IN_NOTHING, 0, NULL }
};

static const element plugin_elements[] = {
    { "plugin", IN_ANYTHING, 0,
      "plugin instance" },
    { NULL, IN_NOTHING, 0, NULL }
};

static const element material_elements[] = {
    { "layer", IN_NOTHING, 0,
      "texture role" },
    { NULL, IN_NOTHING, 0, NULL }
};

static const element skin_elements[] = {
    { "bone", IN_NOTHING, 0,
      "body bindpos bindquat vertid vertweight" },
    { NULL, IN_NOTHING, 0, NULL }
};

static const element deformable_elements[] = {
    { "flex", IN_ANYTHING, 0,
      "name group dim radius material rgba flatskin body vertex element texcoord elemtexcoord "
      "node nodecoord cellcount dof" },
    { "skin", IN_SKIN, 0,
      "name file material rgba inflate vertex texcoord face group" },
    { NULL, IN_NOTHING, 0, NULL }
};

static const element contact_elements[] = {
    { "pair", IN_NOTHING, 0,
      "name class geom1 geom2 condim friction solref solreffriction solimp gap margin adhesion" },
    { "exclude", IN_NOTHING, 0,
      "name body1 body2" },
    { NULL, IN_NOTHING, 0, NULL }
};

static const element tendon_elements[] = {
    { "spatial", IN_SPATIAL, 0,
      "name class group limited actuatorfrclimited range actuatorfrcrange solreflimit solimplimit "
      "solreffriction solimpfriction frictionloss springlength width material margin stiffness "
      "damping armature rgba user" },
    { "fixed", IN_FIXED, 0,
      "name class group limited actuatorfrclimited range actuatorfrcrange solreflimit solimplimit "
      "solreffriction solimpfriction frictionloss springlength margin stiffness damping armature "
      "user" },
    { NULL, IN_NOTHING, 0, NULL }
};

static const element spatial_elements[] = {
    { "site", IN_NOTHING, 0, "site" },
    { "geom", IN_NOTHING, 0,
      "geom sidesite" },
    { "pulley", IN_NOTHING, 0, "divisor" },
    { NULL, IN_NOTHING, 0, NULL }
};

static const element fixed_elements[] = {
    { "joint", IN_NOTHING, 0,
      "joint coef" },
    { NULL, IN_NOTHING, 0, NULL }
};

static const element equality_elements[] = {
    { "connect", IN_NOTHING, 0,
      "name class active solref solimp body1 body2 anchor site1 site2" },
    { "weld", IN_NOTHING, 0,
      "name class active solref solimp body1 body2 relpose anchor site1 site2 torquescale" },
    { "joint", IN_NOTHING, 0,
      "name class active solref solimp joint1 joint2 polycoef" },
    { "tendon", IN_NOTHING, 0,
      "name class active solref solimp tendon1 tendon2 polycoef" },
    { "flex", IN_NOTHING, 0,
      "name class active solref solimp flex" },
    { "flexvert", IN_NOTHING, 0,
      "name class active solref solimp flex" },
    { "flexstrain", IN_NOTHING, 0,
      "name class active solref solimp flex cell" },
    { NULL, IN_NOTHING, 0, NULL }
};

static const element actuator_elements[] = {
    { "general", IN_NOTHING, 0,
      "name class group nsample interp delay ctrlrange user ctrllimited forcelimited actlimited "
      "forcerange actrange lengthrange gear damping armature cranklength joint jointinparent "
      "tendon slidersite cranksite site refsite body actdim input velrange ffrange dyntype "
      "gaintype biastype dynprm gainprm biasprm actearly" },
    { "motor", IN_NOTHING, 0,
      "name class group nsample interp delay ctrlrange user ctrllimited forcelimited forcerange "
      "lengthrange gear damping armature cranklength joint jointinparent tendon slidersite "
      "cranksite site refsite" },
    { "position", IN_NOTHING, 0,
      "name class group nsample interp delay ctrlrange user ctrllimited forcelimited inheritrange "
      "forcerange lengthrange gear damping armature cranklength joint jointinparent tendon "
      "slidersite cranksite site refsite kp kv dampratio timeconst" },
    { "velocity", IN_NOTHING, 0,
      "name class group nsample interp delay ctrlrange user ctrllimited forcelimited forcerange "
      "lengthrange gear damping armature cranklength joint jointinparent tendon slidersite "
      "cranksite site refsite kv" },
    { "intvelocity", IN_NOTHING, 0,
      "name class group nsample interp delay ctrlrange user ctrllimited forcelimited actlimited "
      "forcerange actrange inheritrange lengthrange gear damping armature cranklength joint "
      "jointinparent tendon slidersite cranksite site refsite kp kv dampratio" },
    { "orientation", IN_NOTHING, 0,
      "name class group nsample interp delay ctrlrange user forcelimited forcerange joint site "
      "refsite kp kv dampratio input" },
    { "pid", IN_NOTHING, 0,
      "name class group nsample interp delay ctrlrange user ctrllimited forcelimited posrange "
      "velrange ffrange forcerange inheritrange lengthrange gear damping armature cranklength "
      "joint jointinparent tendon slidersite cranksite site refsite kp kv dampratio ki imax "
      "slewmax input" },
    { "damper", IN_NOTHING, 0,
      "name class group nsample interp delay ctrlrange user forcelimited forcerange lengthrange "
      "gear damping armature cranklength joint jointinparent tendon slidersite cranksite site "
      "refsite kv" },
    { "cylinder", IN_NOTHING, 0,
      "name class group nsample interp delay ctrlrange user ctrllimited forcelimited forcerange "
      "lengthrange gear damping armature cranklength joint jointinparent tendon slidersite "
      "cranksite site refsite timeconst area diameter bias" },
    { "muscle", IN_NOTHING, 0,
      "name class group nsample interp delay ctrlrange user ctrllimited forcelimited forcerange "
      "lengthrange gear damping armature cranklength joint jointinparent tendon slidersite "
      "cranksite timeconst tausmooth range force scale lmin lmax vmax fpmax fvmax" },
    { "adhesion", IN_NOTHING, 0,
      "name class group nsample interp delay ctrlrange user forcelimited forcerange body gain" },
    { "dcmotor", IN_NOTHING, 0,
      "name class group nsample interp delay ctrlrange user ctrllimited lengthrange gear damping "
      "armature cranklength joint jointinparent tendon slidersite cranksite site refsite "
      "motorconst resistance nominal saturation inductance cogging controller thermal "
      "lugre input" },
    { "plugin", IN_ANYTHING, 0,
      "name class group nsample interp delay ctrlrange user plugin instance ctrllimited "
      "forcelimited actlimited forcerange actrange lengthrange gear damping armature cranklength "
      "joint jointinparent site actdim dyntype dynprm tendon cranksite slidersite actearly" },
    { NULL, IN_NOTHING, 0, NULL }
};

#define SENSOR_ATTRS                                                                             \
    "name nsample interp delay interval cutoff noise user site camera data joint tendon actuator " \
    "objtype objname reftype refname body geom1 geom2 body1 body2 subtree1 subtree2 num reduce " \
    "geom mesh datatype needstage dim plugin instance enclosed"

static const element sensor_elements[] = {
    { "touch", IN_NOTHING, 0, SENSOR_ATTRS },
    { "accelerometer", IN_NOTHING, 0, SENSOR_ATTRS },
    { "velocimeter", IN_NOTHING, 0, SENSOR_ATTRS },
    { "gyro", IN_NOTHING, 0, SENSOR_ATTRS },
    { "force", IN_NOTHING, 0, SENSOR_ATTRS },
    { "torque", IN_NOTHING, 0, SENSOR_ATTRS },
    { "magnetometer", IN_NOTHING, 0, SENSOR_ATTRS },
    { "camprojection", IN_NOTHING, 0, SENSOR_ATTRS },
    { "rangefinder", IN_NOTHING, 0, SENSOR_ATTRS },
    { "jointpos", IN_NOTHING, 0, SENSOR_ATTRS },
    { "jointvel", IN_NOTHING, 0, SENSOR_ATTRS },
    { "tendonpos", IN_NOTHING, 0, SENSOR_ATTRS },
    { "tendonvel", IN_NOTHING, 0, SENSOR_ATTRS },
    { "actuatorpos", IN_NOTHING, 0, SENSOR_ATTRS },
    { "actuatorvel", IN_NOTHING, 0, SENSOR_ATTRS },
    { "actuatorfrc", IN_NOTHING, 0, SENSOR_ATTRS },
    { "jointactuatorfrc", IN_NOTHING, 0, SENSOR_ATTRS },
    { "tendonactuatorfrc", IN_NOTHING, 0, SENSOR_ATTRS },
    { "ballquat", IN_NOTHING, 0, SENSOR_ATTRS },
    { "ballangvel", IN_NOTHING, 0, SENSOR_ATTRS },
    { "jointlimitpos", IN_NOTHING, 0, SENSOR_ATTRS },
    { "jointlimitvel", IN_NOTHING, 0, SENSOR_ATTRS },
    { "jointlimitfrc", IN_NOTHING, 0, SENSOR_ATTRS },
    { "tendonlimitpos", IN_NOTHING, 0, SENSOR_ATTRS },
    { "tendonlimitvel", IN_NOTHING, 0, SENSOR_ATTRS },
    { "tendonlimitfrc", IN_NOTHING, 0, SENSOR_ATTRS },
    { "framepos", IN_NOTHING, 0, SENSOR_ATTRS },
    { "framequat", IN_NOTHING, 0, SENSOR_ATTRS },
    { "framexaxis", IN_NOTHING, 0, SENSOR_ATTRS },
    { "frameyaxis", IN_NOTHING, 0, SENSOR_ATTRS },
    { "framezaxis", IN_NOTHING, 0, SENSOR_ATTRS },
    { "framelinvel", IN_NOTHING, 0, SENSOR_ATTRS },
    { "frameangvel", IN_NOTHING, 0, SENSOR_ATTRS },
    { "framelinacc", IN_NOTHING, 0, SENSOR_ATTRS },
    { "frameangacc", IN_NOTHING, 0, SENSOR_ATTRS },
    { "subtreecom", IN_NOTHING, 0, SENSOR_ATTRS },
    { "subtreelinvel", IN_NOTHING, 0, SENSOR_ATTRS },
    { "subtreeangmom", IN_NOTHING, 0, SENSOR_ATTRS },
    { "insidesite", IN_NOTHING, 0, SENSOR_ATTRS },
    { "distance", IN_NOTHING, 0, SENSOR_ATTRS },
    { "normal", IN_NOTHING, 0, SENSOR_ATTRS },
    { "fromto", IN_NOTHING, 0, SENSOR_ATTRS },
    { "contact", IN_NOTHING, 0, SENSOR_ATTRS },
    { "e_potential", IN_NOTHING, 0, SENSOR_ATTRS },
    { "e_kinetic", IN_NOTHING, 0, SENSOR_ATTRS },
    { "clock", IN_NOTHING, 0, SENSOR_ATTRS },
    { "tactile", IN_NOTHING, 0, SENSOR_ATTRS },
    { "user", IN_NOTHING, 0, SENSOR_ATTRS },
    { "plugin", IN_ANYTHING, 0, SENSOR_ATTRS },
    { NULL, IN_NOTHING, 0, NULL }
};

static const element custom_elements[] = {
    { "numeric", IN_NOTHING, 0,
      "name size data" },
    { "text", IN_NOTHING, 0,
      "name data" },
    { "tuple", IN_TUPLE, 0, "name" },
    { NULL, IN_NOTHING, 0, NULL }
};

static const element tuple_elements[] = {
    { "element", IN_NOTHING, 0,
      "objtype objname prm" },
    { NULL, IN_NOTHING, 0, NULL }
};

static const element keyframe_elements[] = {
    { "key", IN_NOTHING, 0,
      "name time qpos qvel act mpos mquat ctrl" },
    { NULL, IN_NOTHING, 0, NULL }
};
static const element *const grammar[IN_COUNT] = {
    [IN_ROOT] = root_elements,
    [IN_COMPILER] = compiler_elements,
    [IN_OPTION] = option_elements,
    [IN_VISUAL] = visual_elements,
    [IN_DEFAULT] = default_elements,
    [IN_ASSET] = asset_elements,
    [IN_BODY] = body_elements,
    [IN_PLUGIN] = plugin_elements,
    [IN_MATERIAL] = material_elements,
    [IN_SKIN] = skin_elements,
    [IN_DEFORMABLE] = deformable_elements,
    [IN_CONTACT] = contact_elements,
    [IN_TENDON] = tendon_elements,
    [IN_SPATIAL] = spatial_elements,
    [IN_FIXED] = fixed_elements,
    [IN_EQUALITY] = equality_elements,
    [IN_ACTUATOR] = actuator_elements,
    [IN_SENSOR] = sensor_elements,
    [IN_CUSTOM] = custom_elements,
    [IN_TUPLE] = tuple_elements,
    [IN_KEYFRAME] = keyframe_elements,
};

/* clang-format on */

#endif
