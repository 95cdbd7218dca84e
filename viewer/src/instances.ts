/* Many copies of one small shape, as many as are asked for in each picture. */

import * as THREE from 'three';

export interface Marks {
  begin(): void;
  /* At a place, z along a direction (unit), with a scale for each axis. */
  place(at: THREE.Vector3, along: THREE.Vector3 | null, scale: THREE.Vector3, color: THREE.Color): void;
  end(): void;
  dispose(): void;
}

export class Instances implements Marks {
  mesh: THREE.InstancedMesh;
  private n = 0;
  private readonly m = new THREE.Matrix4();
  private readonly q = new THREE.Quaternion();
  private readonly up = new THREE.Vector3(0, 0, 1);

  constructor(private readonly parent: THREE.Object3D, private readonly geometry: THREE.BufferGeometry,
              private readonly material: THREE.Material, private readonly order = 0) {
    this.mesh = this.make(16);
  }

  private make(room: number): THREE.InstancedMesh {
    const mesh = new THREE.InstancedMesh(this.geometry, this.material, room);
    mesh.setColorAt(0, new THREE.Color(0xffffff));
    mesh.frustumCulled = false;
    mesh.renderOrder = this.order;
    mesh.count = 0;
    this.parent.add(mesh);
    return mesh;
  }

  begin(): void { this.n = 0; }

  add(matrix: THREE.Matrix4, color: THREE.Color): void {
    if (this.n >= this.mesh.instanceMatrix.count) this.grow();
    this.mesh.setMatrixAt(this.n, matrix);
    this.mesh.setColorAt(this.n++, color);
  }

  place(at: THREE.Vector3, along: THREE.Vector3 | null, scale: THREE.Vector3, color: THREE.Color): void {
    if (along) this.q.setFromUnitVectors(this.up, along); else this.q.identity();
    this.add(this.m.compose(at, this.q, scale), color);
  }

  end(): void {
    this.mesh.count = this.n;
    this.mesh.instanceMatrix.needsUpdate = true;
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
  }

  private grow(): void {
    const old = this.mesh, bigger = this.make(2 * old.instanceMatrix.count);
    bigger.visible = old.visible;
    (bigger.instanceMatrix.array as Float32Array).set(old.instanceMatrix.array);
    if (old.instanceColor && bigger.instanceColor) (bigger.instanceColor.array as Float32Array).set(old.instanceColor.array);
    this.parent.remove(old);
    old.dispose();
    this.mesh = bigger;
  }

  dispose(): void {
    this.parent.remove(this.mesh);
    this.mesh.dispose();
    this.geometry.dispose();
    this.material.dispose();
  }
}
