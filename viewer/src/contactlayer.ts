/* Contacts: points and force arrows coloured by mode, friction cones; the self-stress of a jam; impacts. */

import * as THREE from 'three';
import { Theme } from './colors';
import { Contacts, Jam, Mark, Scene } from './data';
import { Instances } from './instances';
import { headGeometry, openConeGeometry, shaftGeometry } from './shapes';

const MOST_RINGS = 24;

/* Drawn over everything: contacts lie between bodies. */
const always = (opacity = 1): THREE.MeshBasicMaterial =>
  new THREE.MeshBasicMaterial({ depthTest: false, transparent: true, opacity, toneMapped: false });

export class ContactLayer {
  readonly group = new THREE.Group();
  points = true; forces = true; cones = false; open = false; events = true;
  forceScale = 1;
  private readonly dots: Instances;
  private readonly shafts: Instances;
  private readonly heads: Instances;
  private readonly cone: Instances;
  private readonly rings: Instances;
  private readonly colors: THREE.Color[];
  private readonly at = new THREE.Vector3();
  private readonly along = new THREE.Vector3();
  private readonly scale = new THREE.Vector3();
  private readonly weight: number; /* of an arrow of half the size [N] */

  constructor(private readonly scene: Scene, private readonly theme: Theme, private size: number, coarse: boolean) {
    const ball = coarse ? new THREE.OctahedronGeometry(1, 1) : new THREE.SphereGeometry(1, 12, 8);
    this.dots = new Instances(this.group, ball, always(), 12);
    this.shafts = new Instances(this.group, shaftGeometry(coarse ? 5 : 10), always(), 11);
    this.heads = new Instances(this.group, headGeometry(coarse ? 7 : 16), always(), 11);
    const glass = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.22, side: THREE.DoubleSide, depthWrite: false, toneMapped: false });
    this.cone = new Instances(this.group, openConeGeometry(), glass, 10);
    this.rings = new Instances(this.group, new THREE.TorusGeometry(1, 0.06, 8, 40), always(0.9), 12);
    this.colors = theme.modes.map((c) => new THREE.Color(c));
    this.weight = unitForce(scene);
  }

  setSize(size: number): void { this.size = size; }

  update(contacts: Contacts): void {
    for (const layer of [this.dots, this.shafts, this.heads, this.cone]) layer.begin();
    for (let i = 0; i < contacts.n; i++) {
      const mode = contacts.mode[i];
      if (mode === 0 && !this.open) continue;
      const color = this.colors[Math.min(mode, 2)];
      this.at.fromArray(contacts.pos, 3 * i);
      if (this.points) this.dots.place(this.at, null, this.scale.setScalar(0.011 * this.size), color);
      if (this.cones && mode > 0) this.addCone(contacts, i, color);
      if (this.forces && mode > 0) this.addForce(contacts, i, color);
    }
    for (const layer of [this.dots, this.shafts, this.heads, this.cone]) layer.end();
  }

  /* The force on the one that moves: what stands on the floor is pushed up. */
  private sign(contacts: Contacts, i: number): number {
    const second = this.scene.geoms[contacts.geom2[i]];
    return second && !this.scene.bodies[second.body].moves ? -1 : 1;
  }

  private addForce(contacts: Contacts, i: number, color: THREE.Color): void {
    this.along.fromArray(contacts.force, 3 * i).multiplyScalar(this.sign(contacts, i));
    const force = this.along.length();
    if (!(force > 0)) return;
    const length = Math.min(0.6, 0.5 * this.forceScale * force / this.weight) * this.size;
    this.arrow(this.at, this.along.divideScalar(force), length, color);
  }

  private arrow(at: THREE.Vector3, along: THREE.Vector3, length: number, color: THREE.Color): void {
    const width = 0.0065 * this.size, head = Math.min(0.05 * this.size, 0.5 * length);
    if (length < 0.003 * this.size) return;
    this.shafts.place(at, along, this.scale.set(width, width, length - head), color);
    const tip = at.clone().addScaledVector(along, length);
    this.heads.place(tip, along, this.scale.set(0.36 * head, 0.36 * head, head), color);
  }

  private addCone(contacts: Contacts, i: number, color: THREE.Color): void {
    this.along.fromArray(contacts.normal, 3 * i).multiplyScalar(this.sign(contacts, i)).normalize();
    const height = 0.16 * this.size / Math.max(1, contacts.mu[i]), radius = contacts.mu[i] * height;
    if (radius > 0) this.cone.place(this.at, this.along, this.scale.set(radius, radius, height), color);
  }

  /* Impulses that hold each other, the largest as long as a third of the picture. */
  updateJam(jam: Jam | null | undefined): void {
    if (!jam) return;
    const color = new THREE.Color(this.theme.mark.jam);
    let largest = 0;
    for (const part of jam.parts) largest = Math.max(largest, Math.hypot(...part.force));
    this.dots.begin(); this.shafts.begin(); this.heads.begin();
    for (const part of jam.parts) {
      this.at.set(...part.pos);
      this.along.set(...part.force);
      const force = this.along.length();
      this.dots.place(this.at, null, this.scale.setScalar(0.016 * this.size), color);
      if (!(force > 0)) continue;
      this.along.divideScalar(force);
      const length = 0.35 * this.size * force / largest;
      this.arrow(this.at, this.along, length, color);
      this.arrow(this.at, this.along.negate(), length, color);
    }
    this.dots.end(); this.shafts.end(); this.heads.end();
  }

  /* Rings that grow from where something happened shortly before t, the latest ones. */
  updateEvents(marks: Mark[], t: number, span: number): void {
    this.rings.begin();
    let drawn = 0;
    for (let i = marks.length - 1; i >= 0 && this.events && drawn < MOST_RINGS; i--) {
      const mark = marks[i], age = (t - mark.t) / span;
      if (!mark.pos || !(age >= 0 && age < 1)) continue;
      drawn++;
      const color = new THREE.Color(this.theme.mark[mark.kind] ?? 0xffffff);
      this.at.set(...mark.pos);
      this.along.set(...(mark.impulse ?? [0, 0, 1]));
      if (this.along.lengthSq() > 0) this.along.normalize(); else this.along.set(0, 0, 1);
      this.rings.place(this.at, this.along, this.scale.setScalar((0.012 + 0.05 * age) * this.size), color);
    }
    this.rings.end();
  }

  dispose(): void {
    for (const layer of [this.dots, this.shafts, this.heads, this.cone, this.rings]) layer.dispose();
  }
}

/* Force that an arrow of half the size stands for: the weight of one mechanism, or where there are n of them that of root n. */
function unitForce(scene: Scene): number {
  const g = Math.hypot(...scene.gravity) || 9.81;
  let mass = 0, trees = 0;
  for (const body of scene.bodies) {
    if (!body.moves) continue;
    mass += body.mass;
    if (!scene.bodies[body.parent].moves) trees++;
  }
  return g * mass / Math.sqrt(trees) || 1;
}
