"""Models of forces.py."""

ARM = """
    <body name="upper" pos="0 0 1">
      <joint name="shoulder" axis="0 1 0" range="-120 120" limited="true"/>
      <joint name="twist" axis="0 0 1"/>
      <geom name="upper" type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/>
      <site name="s1" pos="0.08 0.01 0.04"/>
      <site name="s1b" pos="0.2 -0.02 0.035"/>
      <geom name="ball" type="sphere" size="0.05" pos="0.3 0.01 0" contype="0" conaffinity="0"/>
      <geom name="drum" type="cylinder" size="0.045 0.06" pos="0.3 0 0" euler="80 10 0" contype="0" conaffinity="0"/>
      <site name="out" pos="0.3 0 0.1"/>
      <site name="in" pos="0.31 0.01 0.01"/>
      <body name="lower" pos="0.3 0 0">
        <joint name="elbow" axis="0 1 0.1" range="-150 150" limited="true" springref="30"/>
        <geom name="lower" type="capsule" fromto="0 0 0 0.25 0 0" size="0.025"/>
        <site name="s2" pos="0.12 0.02 0.06"/>
        <site name="s2b" pos="0.18 -0.02 -0.06" euler="20 30 40"/>
        <body name="hand" pos="0.25 0 0">
          <joint name="wrist" type="ball" stiffness="0.3" damping="0.1"/>
          <geom name="hand" type="box" size="0.05 0.03 0.02" pos="0.05 0 0"/>
          <site name="tip" pos="0.1 0 0.02" euler="10 20 30"/>
        </body>
      </body>
    </body>
    <body name="float" pos="0.2 0.5 0.8">
      <freejoint name="float"/>
      <geom name="float" type="ellipsoid" size="0.1 0.06 0.04" pos="0.02 0 0"/>
      <geom name="bob" type="sphere" size="0.05" pos="-0.1 0.03 0"/>
      <site name="f1" pos="0.1 0 0.02" euler="5 6 7"/>
    </body>
    <body name="cart" pos="-0.4 0 0.5">
      <joint name="slide" type="slide" axis="1 0 0.2" range="-0.3 0.3" limited="true"/>
      <geom name="cart" type="box" size="0.05 0.05 0.05"/>
      <site name="c1" pos="0 0 0.06" euler="0 70 0"/>
    </body>
    <site name="w1" pos="-0.1 0.02 1.1"/>
    <site name="w2" pos="-0.2 0.1 1.3" euler="30 0 0"/>
"""


def arm(rest, option="", body=ARM):
    return f'<mujoco><compiler angle="degree"/><option {option}/><worldbody>{body}</worldbody>{rest}</mujoco>'


TENDONS = """
  <tendon>
    <spatial name="plain" stiffness="30" damping="2" springlength="0.1 0.2"><site site="w1"/><site site="s1"/>
      <site site="s2"/></spatial>
    <spatial name="sphere" stiffness="50" damping="1"><site site="w2"/><site site="s1b"/><geom geom="ball"/>
      <site site="s2"/><site site="tip"/></spatial>
    <spatial name="sphere_side" stiffness="20"><site site="s1b"/><geom geom="ball" sidesite="out"/><site site="s2b"/>
      </spatial>
    <spatial name="cylinder" stiffness="20"><site site="s1"/><geom geom="drum"/><site site="s2b"/></spatial>
    <spatial name="cylinder_side" stiffness="20"><site site="s1"/><geom geom="drum" sidesite="out"/><site site="s2"/>
      </spatial>
    <spatial name="pulleys" damping="3"><site site="w1"/><site site="s1"/><site site="s2"/><pulley divisor="2"/>
      <site site="w2"/><site site="f1"/><pulley divisor="3"/><site site="tip"/><geom geom="ball"/><site site="c1"/>
      </spatial>
    <spatial name="two_trees" stiffness="5"><site site="f1"/><site site="tip"/><site site="c1"/></spatial>
    <spatial name="poly" stiffness="5 3 20" damping="1 0.5 2"><site site="w1"/><site site="f1"/></spatial>
    <fixed name="fixed" stiffness="2 1 3" damping="0.2 1 2"><joint joint="shoulder" coef="1.5"/>
      <joint joint="slide" coef="-2"/></fixed>
  </tendon>
"""

# MuJoCo's point of a string inside of a circle is found to 1e-6 rad: its length is that of the true path to
# rounding, its Jacobian is not. Ours is the gradient of the length (tests/dynamics/test_tendon.c).
INSIDE = """
  <tendon>
    <spatial name="inside" stiffness="20"><site site="s1"/><geom geom="ball" sidesite="in"/><site site="s2"/></spatial>
    <spatial name="cylinder_inside" stiffness="20"><site site="s1"/><geom geom="drum" sidesite="in"/>
      <site site="s2b"/></spatial>
  </tendon>
"""
ARMATURE = """
  <tendon>
    <spatial name="plain" armature="0.7" stiffness="30"><site site="w1"/><site site="s1"/><site site="s2"/></spatial>
    <spatial name="pulleys" armature="2"><site site="w1"/><site site="s1"/><pulley divisor="2"/><site site="w2"/>
      <site site="tip"/></spatial>
    <spatial name="two_trees" armature="0.3"><site site="f1"/><site site="tip"/><site site="c1"/></spatial>
    <fixed name="fixed" armature="0.4"><joint joint="shoulder" coef="1.5"/><joint joint="slide" coef="-2"/></fixed>
    <spatial name="driven"><site site="w2"/><site site="s2b"/></spatial>
  </tendon>
  <actuator>
    <motor tendon="driven" armature="0.2" gear="3"/>
  </actuator>
"""

# ms_human_700 has such strings: MuJoCo's Jacobian is 1.3e-7 from the differences of its own lengths, ours 6e-13.
LOOSE = {"tendons_inside": 3e-6, "ms_human_700/scene.xml": 3e-6,
         "fluid_mesh": 1e-6}  # MuJoCo has the vertices of a mesh in single precision

MODELS = {
    "tendons_inside": arm(INSIDE),
    "tendons": arm(TENDONS),
    "tendon_armature": arm(ARMATURE),
    "tendon_forces": arm(TENDONS + """
  <actuator>
    <motor name="m1" tendon="sphere" gear="2"/>
    <position name="p1" tendon="plain" kp="40" kv="3"/>
    <velocity name="v1" tendon="pulleys" kv="2"/>
    <motor name="m2" tendon="plain" gear="-3"/>
  </actuator>"""),
    "polynomial": arm("", body=ARM.replace('axis="0 0 1"', 'axis="0 0 1" stiffness="2 3 4" damping="0.1 0.2 0.3"')
                      .replace('stiffness="0.3" damping="0.1"', 'stiffness="0.3 0.2 0.5" damping="0.1 0 0.7"')),
}
MUSCLES = TENDONS + """
  <actuator>
    <muscle name="a" tendon="sphere" lengthrange="0.2 0.9"/>
    <muscle name="b" tendon="plain" lengthrange="0.3 0.8" force="90" timeconst="0.02 0.07" tausmooth="0.3" lmin="0.6"
            lmax="1.5" vmax="2" fpmax="1.1" fvmax="1.4" range="0.8 1.1" gear="1.5" forcerange="-60 0"/>
    <muscle name="c" joint="slide" lengthrange="-0.3 0.3" scale="100"/>
    <general name="d" joint="elbow" dyntype="muscle" gaintype="affine" gainprm="1 2 3" dynprm="0.03 0.05"
             actlimited="true" actrange="0.1 0.9" actearly="true"/>
    <general name="e" tendon="plain" gaintype="muscle" gainprm="0.75 1.05 50 100 0.5 1.6 1.5 1.3 1.2"
             lengthrange="0.2 0.9"/>
    <general name="f" joint="slide" dyntype="filter" dynprm="0.1" actearly="true"/>
    <general name="g" joint="slide" dyntype="filterexact" dynprm="0.1" actearly="true"/>
    <intvelocity name="h" joint="shoulder" kp="20" actrange="-1 1"/>
    <motor name="crank" cranksite="tip" slidersite="c1" cranklength="0.9" gear="3"/>
    <position name="crank2" cranksite="f1" slidersite="s2b" cranklength="2" kp="10" kv="1"/>
    <cylinder name="cyl" joint="slide" timeconst="0.2" area="2" bias="1 2 3"/>
    <damper name="damper" joint="shoulder" kv="3" ctrlrange="0 2"/>
    <motor name="wrench" site="tip" gear="1 2 3 4 5 6"/>
    <position name="ref" site="tip" refsite="f1" gear="0 0 0 1 2 3" kp="5"/>
    <motor name="parent" jointinparent="wrist" gear="1 2 3"/>
    <velocity name="force_bound" joint="slide" kv="9" forcerange="-1 2"/>
    <adhesion name="sticky" body="hand" gain="30" ctrlrange="0 1"/>
  </actuator>"""
MODELS["actuators"] = arm(MUSCLES)
MOTORS = TENDONS + """
  <default><default class="servo"><pid kp="7" ki="2" imax="0.5" input="pos ff"/></default>
    <default class="small"><dcmotor motorconst="0.04" resistance="3" input="pos vel" controller="4 1 0.5"/></default></default>
  <actuator>
    <pid name="pid" joint="slide"/>
    <pid name="pid_all" joint="shoulder" kp="20" kv="3" ki="7" imax="0.3" slewmax="2.5" input="pos vel ff" velrange="-1 1"
         ffrange="-2 2" posrange="-0.5 0.5" forcerange="-30 30" gear="1.5"/>
    <pid name="pid_ratio" joint="elbow" kp="12" dampratio="0.7" inheritrange="0.9"/>
    <pid name="pid_tendon" tendon="plain" kp="5" kv="1" input="vel ff" gear="2"/>
    <pid name="pid_class" class="servo" joint="twist"/>
    <general name="pid_general" joint="slide" gaintype="pid" biastype="affine" dyntype="pid" gainprm="3" biasprm="1 -5 -2"
             dynprm="0.4 1" input="pos vel ff"/>
    <dcmotor name="dc" joint="slide" motorconst="0.05 0.06" resistance="2" gear="3" armature="0.01" damping="0.1 0.2 0.3"/>
    <dcmotor name="dc_sheet" joint="elbow" nominal="12 2 50" cogging="0.3 7 0.2" damping="0.01" saturation="0 1.5"/>
    <dcmotor name="dc_coil" joint="elbow" motorconst="0.5" resistance="2" inductance="0.01" saturation="0 0 30"/>
    <dcmotor name="dc_hot" joint="twist" motorconst="0.5" resistance="2" inductance="0 0.02"
             thermal="3 20 0 0.0039 25 20"/>
    <dcmotor name="dc_warm" tendon="sphere" motorconst="0.5" resistance="2" thermal="3 0 50 0.0039 25 20"/>
    <dcmotor name="dc_rub" joint="shoulder" motorconst="0.5" resistance="2" lugre="10 2 0.3 0.5 0.1"/>
    <dcmotor name="dc_servo" joint="shoulder" motorconst="0.5" resistance="2" input="pos vel ff voltage"
             controller="5 2 1 3 0.2 6"/>
    <dcmotor name="dc_all" joint="slide" motorconst="0.5" resistance="2" input="vel ff" controller="0 0 1 3 0 6"
             inductance="0.01" thermal="3 20 0 0.0039 25 20" lugre="10 2 0.3 0.5 0.1" cogging="0.3 7 0.2" saturation="0.2"/>
    <dcmotor name="dc_short" joint="slide" motorconst="0.5" resistance="2" input="none" lugre="10 2 0.3 0.5 0.1"/>
    <dcmotor name="dc_class" class="small" joint="elbow"/>
    <orientation name="turn" joint="wrist" kp="20" kv="3"/>
    <orientation name="turn_quat" joint="wrist" kp="20" kv="3" input="quat" forcerange="0 5"/>
    <orientation name="turn_site" site="tip" refsite="f1" kp="20" kv="3" ctrlrange="-1 1"/>
    <general name="turn_int" joint="wrist" gaintype="so3" biastype="so3" dyntype="integrator" gainprm="20"
             biasprm="0 -20 -3"/>
    <orientation name="turn_ratio" joint="wrist" kp="20" dampratio="0.8"/>
    <position name="site_ratio" site="tip" refsite="f1" gear="0 0 0 1 2 3" kp="5" dampratio="1"/>
    <motor name="after" joint="slide"/>
  </actuator>"""
MODELS["motors"] = arm(MOTORS)
MODELS["fluid_box"] = arm("", option='density="1.2" viscosity="0.7" wind="1 2 3"')
MODELS["fluid_ellipsoid"] = MODELS["fluid_box"].replace(
    '<geom name="float"', '<geom fluidshape="ellipsoid" name="float"').replace(
    '<geom name="upper"', '<geom fluidshape="ellipsoid" fluidcoef="0.3 0.2 1.1 0.9 0.8" name="upper"').replace(
    '<geom name="drum"', '<geom fluidshape="ellipsoid" name="drum"').replace(
    '<geom name="bob"', '<geom fluidshape="ellipsoid" name="bob"').replace(
    '<geom name="hand"', '<geom fluidshape="ellipsoid" name="hand"')
MODELS["fluid_mesh"] = """<mujoco><option density="1.2" viscosity="0.7" wind="1 2 3"/><asset>
  <mesh name="m" vertex="0 0 0 .3 0 0 0 .2 0 0 0 .1 .3 .2 .05 .1 .1 .3"/></asset><worldbody><body pos="0 0 1"><freejoint/>
  <geom type="mesh" mesh="m" fluidshape="ellipsoid" pos="0.1 0 0.2" euler="10 20 30"/></body></worldbody></mujoco>"""
# Plates so thin that the sixth power of their sizes is nothing beside 1e-15.
MODELS["fluid_thin"] = """<mujoco><option density="1.2" viscosity="1.8e-5" wind="0 0 1"/><worldbody><body><freejoint/>
  <geom type="box" size=".025 .01 .0001" pos=".025 0 0" euler="20 0 0" mass="1e-4" fluidshape="ellipsoid"/>
  <geom type="box" size=".02 .01 .0002" pos="-.025 0 0" euler="-19 5 0" mass="1e-4" fluidshape="ellipsoid"/>
  </body></worldbody></mujoco>"""
MODELS["tendon_limits"] = MODELS["tendon_forces"].replace(
    '<spatial name="plain"', '<spatial name="plain" actuatorfrcrange="-2 3"')

MENAGERIE = [
    "iit_softfoot/scene.xml",
    "tetheria_aero_hand_open/scene_right.xml",
    "ms_human_700/scene.xml",
    "flybody/scene.xml",
    "robotiq_2f85_v4/scene.xml",
    "skydio_x2/scene.xml",
    "bitcraze_crazyflie_2/scene.xml",
]
