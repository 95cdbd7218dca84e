/* Contacts: points and force arrows coloured by mode, friction cones; the self-stress of a jam; impacts. */

import * as THREE from 'three';
import { Theme } from './colors';
import { Copies } from './copies';
import { Contacts, Jam, Mark, Scene } from './data';
import { Instances, Marks } from './instances';
import { displayed, quickMark } from './quick';
import { diamondGeometry, headGeometry, openConeGeometry, shaftGeometry } from './shapes';

const MOST_RINGS = 24;

/* Drawn over everything: contacts lie between bodies. */
const always = (coarse: boolean, opacity = 1): THREE.MeshBasicMaterial => {
  const options = { depthTest: false, transparent: true, opacity, toneMapped: false };
  return coarse ? quickMark({ ...options, vertexColors: true, blending: opacity < 1 ? THREE.NormalBlending : THREE.NoBlending }) : new THREE.MeshBasicMaterial(options);
};

export class ContactLayer {
  readonly group = new THREE.Group();
  points = true; forces = true; cones = false; open = false; events = true;
  forceScale = 1;
  private readonly dots: Marks;
  private readonly shafts: Marks;
  private readonly heads: Marks;
  private readonly cone: Instances;
  private readonly rings: Marks;
  private readonly colors: THREE.Color[];
  private readonly coneColors: THREE.Color[];
  private readonly at = new THREE.Vector3();
  private readonly along = new THREE.Vector3();
  private readonly scale = new THREE.Vector3();
  private readonly weight: number; /* of an arrow of half the size [N] */
  private readonly small: number; /* marks of a crowd would hide it */

  constructor(private readonly scene: Scene, private readonly theme: Theme, private size: number, private readonly coarse: boolean) {
    const crowd = treeCount(scene), Many = coarse ? Copies : Instances;
    const ball = coarse && crowd > 100 ? diamondGeometry() : coarse ? new THREE.SphereGeometry(1, 6, 4) : new THREE.SphereGeometry(1, 12, 8);
    this.dots = new Many(this.group, ball, always(coarse), 12);
    this.shafts = new Many(this.group, shaftGeometry(coarse ? 3 : 10), always(coarse), 11);
    this.heads = new Many(this.group, headGeometry(coarse ? 5 : 16, coarse), always(coarse), 11);
    const glass = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.22, side: THREE.DoubleSide, depthWrite: false, toneMapped: false });
    this.cone = new Instances(this.group, openConeGeometry(), glass, 10);
    this.rings = new Many(this.group, new THREE.TorusGeometry(1, 0.06, 8, 40), always(coarse, 0.9), 12);
    this.colors = theme.modes.map((c) => this.tint(c));
    this.coneColors = theme.modes.map((c) => new THREE.Color(c));
    this.weight = unitForce(scene, crowd);
    this.small = Math.min(1, 3 / Math.cbrt(crowd));
  }

  private tint(color: number): THREE.Color { return this.coarse ? displayed(color) : new THREE.Color(color); }

  setSize(size: number): void { this.size = size; }

  update(contacts: Contacts): void {
    for (const layer of [this.dots, this.shafts, this.heads, this.cone]) layer.begin();
    for (let i = 0; i < contacts.n; i++) {
      const mode = contacts.mode[i];
      if (mode === 0 && !this.open) continue;
      const color = this.colors[Math.min(mode, 2)];
      this.at.fromArray(contacts.pos, 3 * i);
      if (this.points) this.dots.place(this.at, null, this.scale.setScalar(0.011 * this.small * this.size), color);
      if (this.cones && mode > 0) this.addCone(contacts, i, this.coneColors[Math.min(mode, 2)]);
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
    const length = Math.min(0.6, 0.5 * this.forceScale * force / this.weight) * this.small * this.size;
    this.arrow(this.at, this.along.divideScalar(force), length, color);
  }

  private arrow(at: THREE.Vector3, along: THREE.Vector3, length: number, color: THREE.Color): void {
    const size = this.small * this.size, width = 0.0065 * size, head = Math.min(0.05 * size, 0.5 * length);
    if (length < 0.003 * size) return;
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
    const color = this.tint(this.theme.mark.jam);
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
      const color = this.tint(this.theme.mark[mark.kind] ?? 0xffffff);
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

/* Mechanisms that are not joined. */
function treeCount(scene: Scene): number {
  return scene.bodies.filter((body) => body.moves && !scene.bodies[body.parent].moves).length;
}

/* Force that an arrow of half the size stands for: the weight of one mechanism, or where there are n of them that of root n. */
function unitForce(scene: Scene, trees: number): number {
  const g = Math.hypot(...scene.gravity) || 9.81;
  let mass = 0;
  for (const body of scene.bodies) if (body.moves) mass += body.mass;
  return g * mass / Math.sqrt(trees) || 1;
}
