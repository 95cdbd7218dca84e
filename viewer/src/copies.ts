/* Many copies of one small shape as one mesh, for pictures that the processor draws: there each instance costs as much as a draw call, more than the
 * few vertices that are moved here. */

import * as THREE from 'three';
import { Marks } from './instances';

export class Copies implements Marks {
  private readonly shape: Float32Array;
  private readonly faces: ArrayLike<number>;
  private mesh: THREE.Mesh;
  private n = 0;
  private room = 16;
  private readonly m = new THREE.Matrix4();
  private readonly q = new THREE.Quaternion();
  private readonly up = new THREE.Vector3(0, 0, 1);

  constructor(private readonly parent: THREE.Object3D, shape: THREE.BufferGeometry, private readonly material: THREE.Material, private readonly order = 0) {
    this.shape = Float32Array.from(shape.getAttribute('position').array);
    this.faces = shape.getIndex()!.array;
    shape.dispose();
    this.mesh = this.make();
  }

  private make(): THREE.Mesh {
    const geometry = new THREE.BufferGeometry(), { shape, faces, room } = this, each = shape.length / 3, index = new Uint32Array(faces.length * room);
    for (let k = 0; k < index.length; k++) index[k] = faces[k % faces.length] + each * Math.floor(k / faces.length);
    geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(shape.length * room), 3).setUsage(THREE.DynamicDrawUsage));
    geometry.setAttribute('color', new THREE.BufferAttribute(new Uint8Array(shape.length * room), 3, true).setUsage(THREE.DynamicDrawUsage));
    geometry.setIndex(new THREE.BufferAttribute(index, 1));
    const mesh = new THREE.Mesh(geometry, this.material);
    mesh.frustumCulled = false;
    mesh.renderOrder = this.order;
    this.parent.add(mesh);
    return mesh;
  }

  begin(): void { this.n = 0; }

  place(at: THREE.Vector3, along: THREE.Vector3 | null, scale: THREE.Vector3, color: THREE.Color): void {
    if (this.n >= this.room) this.grow();
    if (along) this.q.setFromUnitVectors(this.up, along); else this.q.identity();
    const e = this.m.compose(at, this.q, scale).elements, { shape } = this, first = shape.length * this.n++;
    const place = this.mesh.geometry.getAttribute('position').array, tint = this.mesh.geometry.getAttribute('color').array;
    for (let i = 0; i < shape.length; i += 3) {
      const x = shape[i], y = shape[i + 1], z = shape[i + 2], to = first + i;
      place[to] = e[0] * x + e[4] * y + e[8] * z + e[12];
      place[to + 1] = e[1] * x + e[5] * y + e[9] * z + e[13];
      place[to + 2] = e[2] * x + e[6] * y + e[10] * z + e[14];
      tint[to] = 255 * color.r;
      tint[to + 1] = 255 * color.g;
      tint[to + 2] = 255 * color.b;
    }
  }

  end(): void {
    const { geometry } = this.mesh;
    geometry.setDrawRange(0, this.faces.length * this.n);
    this.mesh.visible = this.n > 0;
    for (const name of ['position', 'color']) {
      const attribute = geometry.getAttribute(name) as THREE.BufferAttribute;
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, this.shape.length * this.n);
      attribute.needsUpdate = true;
    }
  }

  private grow(): void {
    const old = this.mesh;
    this.room *= 2;
    this.mesh = this.make();
    for (const name of ['position', 'color']) (this.mesh.geometry.getAttribute(name).array as Float32Array).set(old.geometry.getAttribute(name).array);
    this.parent.remove(old);
    old.geometry.dispose();
  }

  dispose(): void {
    this.parent.remove(this.mesh);
    this.mesh.geometry.dispose();
    this.material.dispose();
  }
}
