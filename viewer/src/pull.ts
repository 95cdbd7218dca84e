/* Bodies are pulled with the mouse, a finger or a pen: a spring from the point that was taken to the pointer. */

import * as THREE from 'three';
import { LiveModel } from './livemodel';

const SWING = 2; /* frequency of a mechanism on the spring [Hz] */

export class Puller {
  body = -1;
  private readonly local = new THREE.Vector3();
  private readonly target = new THREE.Vector3();
  private readonly plane = new THREE.Plane();
  private stiffness = 1;
  private mass = 1;

  constructor(private readonly model: LiveModel, private readonly wake: () => void) {
    const canvas = model.stage!.canvas;
    canvas.addEventListener('pointerdown', (e) => this.down(e), { capture: true });
    canvas.addEventListener('pointermove', (e) => this.move(e));
    for (const name of ['pointerup', 'pointercancel'] as const) canvas.addEventListener(name, () => this.release());
  }

  private down(e: PointerEvent): void {
    const stage = this.model.stage!;
    if (e.button !== 0 || e.shiftKey || !e.isPrimary) return;
    const hit = stage.bodies.pick(stage.rayAt(e.clientX, e.clientY));
    if (!hit || !this.model.scene.bodies[hit.body].moves) return;
    stage.controls.enabled = false;
    stage.canvas.setPointerCapture(e.pointerId);
    this.body = hit.body;
    this.local.copy(hit.point).applyMatrix4(stage.bodies.frameOf(hit.body).clone().invert());
    this.target.copy(hit.point);
    this.plane.setFromNormalAndCoplanarPoint(stage.camera.getWorldDirection(new THREE.Vector3()), hit.point);
    this.mass = massOf(this.model, hit.body);
    this.stiffness = this.mass * (2 * Math.PI * SWING) ** 2;
    stage.select(hit.body);
    this.hold();
    this.wake();
  }

  private move(e: PointerEvent): void {
    if (this.body < 0) return;
    const at = this.model.stage!.rayAt(e.clientX, e.clientY).ray.intersectPlane(this.plane, new THREE.Vector3());
    if (!at) return;
    this.target.copy(at);
    this.hold();
  }

  private hold(): void {
    this.model.sim.pull(this.body, this.local.toArray(), this.target.toArray(), this.stiffness, this.mass);
    this.draw();
  }

  draw(): void {
    if (this.body < 0) return;
    const stage = this.model.stage!;
    stage.showPull(this.local.clone().applyMatrix4(stage.bodies.frameOf(this.body)), this.target);
  }

  release(): void {
    if (this.body < 0) return;
    const stage = this.model.stage!;
    this.body = -1;
    this.model.sim.pull(-1);
    stage.controls.enabled = true;
    stage.showPull(null);
    stage.select(-1);
  }
}

/* Mass of the mechanism that the body belongs to. */
function massOf(model: LiveModel, body: number): number {
  const trees = model.stage!.bodies.trees;
  return model.scene.bodies.reduce((sum, b, i) => sum + (b.moves && trees[i].root === trees[body].root ? b.mass : 0), 0) || 1;
}
