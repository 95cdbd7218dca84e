/* What a model has besides its shapes: frames, joint axes, sites, centres of mass, tendons, trails. */

import * as THREE from 'three';
import { Bodies, localFrame } from './bodies';
import { Polyline, Scene } from './data';
import { Instances } from './instances';
import { headGeometry, pieceOf, shaftGeometry } from './shapes';

const AXES = [0xe5484d, 0x46a758, 0x3e7bfa].map((c) => new THREE.Color(c));
const JOINT = new THREE.Color(0xf2c14e), TENDON = 0xd0668f, MASS = new THREE.Color(0xffffff);
const TRAIL_BODIES = 64, TRAIL_POINTS = 240;

const flat = (depthTest: boolean): THREE.MeshBasicMaterial =>
  new THREE.MeshBasicMaterial({ depthTest, transparent: !depthTest, toneMapped: false });

export class ModelLayer {
  readonly group = new THREE.Group();
  frames = false; joints = false; sites = false; masses = false; trails = false; tendons = true;
  private readonly shafts: Instances;
  private readonly heads: Instances;
  private readonly balls: Instances;
  private readonly siteGroup = new THREE.Group();
  private readonly lines = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: TENDON }));
  private readonly trail: Trails;
  private readonly v = new THREE.Vector3();
  private readonly w = new THREE.Vector3();
  private readonly s = new THREE.Vector3();

  constructor(private readonly scene: Scene, private readonly bodies: Bodies, private readonly size: number) {
    this.shafts = new Instances(this.group, shaftGeometry(), flat(false), 9);
    this.heads = new Instances(this.group, headGeometry(), flat(false), 9);
    this.balls = new Instances(this.group, quartered(), new THREE.MeshBasicMaterial({ vertexColors: true, depthTest: false, transparent: true }), 9);
    this.lines.frustumCulled = false;
    this.trail = new Trails(scene, bodies);
    this.makeSites();
    this.group.add(this.siteGroup, this.lines, this.trail.lines);
  }

  private makeSites(): void {
    for (const site of this.scene.sites) {
      const piece = pieceOf(site, this.scene, 16);
      if (!piece) continue;
      const mesh = new THREE.Mesh(piece.make(), new THREE.MeshLambertMaterial({ color: 0x42aaa8, transparent: true, opacity: 0.6 }));
      mesh.matrixAutoUpdate = false;
      mesh.userData = { body: site.body, local: localFrame(site).scale(piece.scale) };
      this.siteGroup.add(mesh);
    }
  }

  update(t: number, poses: ArrayLike<number>, tendons: () => Polyline[]): void {
    this.shafts.begin(); this.heads.begin(); this.balls.begin();
    this.scene.bodies.forEach((body, i) => {
      if (i === 0 || !body.moves) return;
      const frame = this.bodies.frameOf(i);
      if (this.frames) this.addFrame(frame);
      if (this.masses && body.mass > 0) {
        this.v.set(...body.com).applyMatrix4(frame);
        this.balls.place(this.v, null, this.s.setScalar(0.014 * this.size), MASS);
      }
    });
    if (this.masses) this.addTotal();
    if (this.joints) this.addJoints();
    this.shafts.end(); this.heads.end(); this.balls.end();
    this.updateSites();
    this.updateTendons(tendons);
    this.trail.lines.visible = this.trails;
    if (this.trails) this.trail.update(t, poses);
  }

  private addFrame(frame: THREE.Matrix4): void {
    const m = new THREE.Matrix4(), length = 0.09 * this.size, width = 0.004 * this.size;
    this.v.setFromMatrixPosition(frame);
    m.extractRotation(frame);
    for (let a = 0; a < 3; a++) {
      this.w.setFromMatrixColumn(m, a);
      this.shafts.place(this.v, this.w, this.s.set(width, width, length), AXES[a]);
    }
  }

  private addJoints(): void {
    const at = new THREE.Vector3();
    for (const joint of this.scene.joints) {
      if (joint.type !== 'hinge' && joint.type !== 'slide') continue;
      const frame = this.bodies.frameOf(joint.body), length = 0.13 * this.size, width = 0.005 * this.size;
      at.set(...joint.pos).applyMatrix4(frame);
      this.w.set(...joint.axis).transformDirection(frame);
      at.addScaledVector(this.w, -0.5 * length);
      this.shafts.place(at, this.w, this.s.set(width, width, 0.8 * length), JOINT);
      at.addScaledVector(this.w, length);
      this.heads.place(at, this.w, this.s.set(2.6 * width, 2.6 * width, 0.22 * length), JOINT);
    }
  }

  private addTotal(): void {
    const sum = new THREE.Vector3();
    let mass = 0;
    this.scene.bodies.forEach((body, i) => {
      if (!body.moves) return;
      sum.addScaledVector(this.v.set(...body.com).applyMatrix4(this.bodies.frameOf(i)), body.mass);
      mass += body.mass;
    });
    if (mass > 0) this.balls.place(sum.divideScalar(mass), null, this.s.setScalar(0.026 * this.size), MASS);
  }

  private updateSites(): void {
    this.siteGroup.visible = this.sites;
    if (!this.sites) return;
    for (const mesh of this.siteGroup.children) {
      mesh.matrix.multiplyMatrices(this.bodies.frameOf(mesh.userData.body as number), mesh.userData.local as THREE.Matrix4);
      mesh.matrixWorldNeedsUpdate = true;
    }
  }

  private updateTendons(tendons: () => Polyline[]): void {
    this.lines.visible = this.tendons && this.scene.tendons.some((t) => t.spatial);
    if (!this.lines.visible) return;
    const points: number[] = [];
    for (const line of tendons()) {
      for (let i = 0; i + 5 < line.points.length; i += 3)
        for (let k = 0; k < 6; k++) points.push(line.points[i + k]);
    }
    this.lines.geometry.dispose();
    this.lines.geometry = new THREE.BufferGeometry();
    this.lines.geometry.setAttribute('position', new THREE.Float32BufferAttribute(points, 3));
  }

  /* The past of a replay is known: it is asked for when the time line jumps. */
  retrace(t: number, posesAt: (t: number) => ArrayLike<number>, step: number): void {
    if (this.trails) this.trail.retrace(t, posesAt, step);
  }

  dispose(): void {
    this.shafts.dispose(); this.heads.dispose(); this.balls.dispose();
    this.lines.geometry.dispose();
    this.trail.lines.geometry.dispose();
  }
}

/* Black and white quarters: the sign of a centre of mass. */
function quartered(): THREE.BufferGeometry {
  const geometry = new THREE.SphereGeometry(1, 16, 12).toNonIndexed(), p = geometry.getAttribute('position');
  const color = new Float32Array(3 * p.count);
  for (let f = 0; f < p.count / 3; f++) {
    let x = 0, y = 0, z = 0;
    for (let k = 3 * f; k < 3 * f + 3; k++) { x += p.getX(k); y += p.getY(k); z += p.getZ(k); }
    color.fill(x * y * z > 0 ? 1 : 0.05, 9 * f, 9 * f + 9);
  }
  geometry.setAttribute('color', new THREE.BufferAttribute(color, 3));
  return geometry;
}

/* Where centres of mass of the roots of mechanisms were. */
class Trails {
  readonly lines: THREE.LineSegments;
  private readonly tracked: number[];
  private times: number[] = [];
  private places: Float32Array[] = [];

  constructor(private readonly scene: Scene, private readonly bodies: Bodies) {
    const roots = scene.bodies.map((_, i) => i).filter((i) => scene.bodies[i].moves);
    const free = roots.filter((i) => bodies.trees[i].root === i);
    this.tracked = (roots.length <= 24 ? roots : free).slice(0, TRAIL_BODIES);
    const geometry = new THREE.BufferGeometry(), room = this.tracked.length * TRAIL_POINTS * 2;
    geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(3 * room), 3));
    geometry.setAttribute('color', new THREE.BufferAttribute(new Float32Array(4 * room), 4));
    this.lines = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ vertexColors: true, transparent: true }));
    this.lines.frustumCulled = false;
  }

  private sample(poses: ArrayLike<number>): Float32Array {
    const out = new Float32Array(3 * this.tracked.length), q = new THREE.Quaternion(), v = new THREE.Vector3();
    this.tracked.forEach((body, k) => {
      const a = 7 * body;
      q.set(poses[a + 4], poses[a + 5], poses[a + 6], poses[a + 3]);
      v.set(...this.scene.bodies[body].com).applyQuaternion(q);
      out[3 * k] = v.x + poses[a]; out[3 * k + 1] = v.y + poses[a + 1]; out[3 * k + 2] = v.z + poses[a + 2];
    });
    return out;
  }

  update(t: number, poses: ArrayLike<number>): void {
    const last = this.times[this.times.length - 1];
    if (last !== undefined && t < last) { this.times = []; this.places = []; }
    if (last === undefined || t > last) { this.times.push(t); this.places.push(this.sample(poses)); }
    if (this.times.length > TRAIL_POINTS) { this.times.shift(); this.places.shift(); }
    this.draw();
  }

  retrace(t: number, posesAt: (t: number) => ArrayLike<number>, step: number): void {
    this.times = [];
    this.places = [];
    for (let k = Math.min(TRAIL_POINTS - 1, Math.floor(t / step)); k >= 0; k--) {
      this.times.push(t - k * step);
      this.places.push(this.sample(posesAt(t - k * step)));
    }
    this.draw();
  }

  private draw(): void {
    const position = this.lines.geometry.getAttribute('position') as THREE.BufferAttribute;
    const color = this.lines.geometry.getAttribute('color') as THREE.BufferAttribute;
    let n = 0;
    const c = new THREE.Color();
    this.tracked.forEach((body, k) => {
      c.setHSL((0.58 + 0.137 * this.bodies.trees[body].number + 0.05 * this.bodies.trees[body].depth) % 1, 0.85, 0.66);
      for (let i = 1; i < this.places.length; i++) {
        for (const j of [i - 1, i]) {
          position.setXYZ(n, this.places[j][3 * k], this.places[j][3 * k + 1], this.places[j][3 * k + 2]);
          color.setXYZW(n++, c.r, c.g, c.b, j / this.places.length);
        }
      }
    });
    this.lines.geometry.setDrawRange(0, n);
    position.needsUpdate = true;
    color.needsUpdate = true;
  }
}
