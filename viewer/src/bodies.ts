/* The geoms of a scene as instanced meshes: one draw call for each kind of shape, however many bodies there are. */

import * as THREE from 'three';
import { geomColor, Theme, Tree, treesOf } from './colors';
import { Scene, SceneGeom } from './data';
import { floorMaterial } from './floor';
import { quickBody } from './quick';
import { Piece, pieceOf, roundness } from './shapes';

interface Batch { mesh: THREE.InstancedMesh; geoms: number[]; local: THREE.Matrix4[]; alpha: number }
interface Plane { mesh: THREE.Mesh; geom: number; local: THREE.Matrix4; material: ReturnType<typeof floorMaterial> }

export type Shown = 'seen' | 'collision' | 'all';

export class Bodies {
  readonly group = new THREE.Group();
  readonly trees: Tree[];
  private batches: Batch[] = [];
  private planes: Plane[] = [];
  private readonly frame: THREE.Matrix4[];
  private geometries = new Map<string, THREE.BufferGeometry>();
  private theme: Theme;
  private selected = -1;
  private opacity = 1;
  private shown: Shown = 'seen';

  constructor(readonly scene: Scene, theme: Theme, private readonly fine: boolean) {
    this.theme = theme;
    this.trees = treesOf(scene);
    this.frame = scene.bodies.map(() => new THREE.Matrix4());
    this.build();
  }

  /* Which geoms are drawn: as in MJCF viewers, groups from 3 on are not, unless there are no others. */
  private wanted(): number[] {
    const { geoms } = this.scene;
    const all = geoms.map((_, i) => i);
    if (this.shown === 'all') return all;
    if (this.shown === 'collision') return all.filter((i) => geoms[i].collides);
    return this.seenGeoms(all);
  }

  /* Also in URDF, where <visual> and <collision> say it. */
  private seenGeoms(all: number[]): number[] {
    const { geoms, name } = this.scene, urdf = name.toLowerCase().endsWith('.urdf');
    const visible = all.filter((i) => geoms[i].rgba[3] > 0);
    const first = (i: number): boolean => (urdf ? !geoms[i].collides : geoms[i].group < 3);
    const dressed = new Set(visible.filter(first).map((i) => geoms[i].body));
    return visible.filter((i) => first(i) || !dressed.has(geoms[i].body) && geoms[i].collides);
  }

  private build(): void {
    this.clear();
    const wanted = this.wanted(), round = roundness(wanted.length, this.fine);
    const kinds = new Map<string, { piece: Piece; geoms: number[]; alpha: number }>();
    for (const i of wanted) {
      const geom = this.scene.geoms[i];
      if (geom.type === 'plane') { this.addPlane(i); continue; }
      const piece = pieceOf(geom, this.scene, round);
      if (!piece) continue;
      const key = piece.key + ' ' + geom.rgba[3];
      const kind = kinds.get(key);
      if (kind) kind.geoms.push(i); else kinds.set(key, { piece, geoms: [i], alpha: geom.rgba[3] });
    }
    for (const [, kind] of kinds) this.addBatch(kind.piece, kind.geoms, kind.alpha, round);
    this.paint();
    this.setOpacity(this.opacity);
  }

  private addBatch(piece: Piece, geoms: number[], alpha: number, round: number): void {
    const key = piece.key + ' ' + round;
    let geometry = this.geometries.get(key);
    if (!geometry) this.geometries.set(key, geometry = piece.make());
    const field = piece.key.startsWith('hfield'), options = { color: 0xffffff, side: field ? THREE.DoubleSide : THREE.FrontSide };
    const material = this.fine ? new THREE.MeshStandardMaterial({ ...options, roughness: 0.55, metalness: 0.04 })
      : field ? new THREE.MeshLambertMaterial(options) : quickBody(options); /* a field is seen from both sides, a vertex is lit from one */
    const mesh = new THREE.InstancedMesh(geometry, material, geoms.length);
    mesh.frustumCulled = false;
    mesh.castShadow = !field;
    mesh.receiveShadow = true;
    mesh.userData.geoms = geoms;
    const local = geoms.map((i) => {
      const g = this.scene.geoms[i], scale = pieceOf(g, this.scene, round)!.scale;
      return localFrame(g).scale(scale);
    });
    this.batches.push({ mesh, geoms, local, alpha });
    this.group.add(mesh);
  }

  private addPlane(i: number): void {
    const geom = this.scene.geoms[i], extent = this.scene.extent || 1;
    const endless = !(geom.size[0] > 0) || !(geom.size[1] > 0);
    const half = endless ? [60 * extent, 60 * extent] : [geom.size[0], geom.size[1]];
    const material = floorMaterial(this.theme, extent, endless, geom, this.fine);
    const mesh = new THREE.Mesh(new THREE.PlaneGeometry(2 * half[0], 2 * half[1]), material.material);
    mesh.receiveShadow = true;
    mesh.matrixAutoUpdate = false;
    mesh.renderOrder = this.fine ? -1 : 1; /* pixels that bodies hide are not computed */
    this.planes.push({ mesh, geom: i, local: localFrame(geom), material });
    this.group.add(mesh);
  }

  setTheme(theme: Theme): void { this.theme = theme; this.paint(); }
  setShown(shown: Shown): void { this.shown = shown; this.build(); }
  select(body: number): void { this.selected = body; this.paint(); }

  /* Bodies become glass, so that contacts inside can be seen. */
  setOpacity(opacity: number): void {
    this.opacity = opacity;
    for (const batch of this.batches) {
      const material = batch.mesh.material as THREE.MeshStandardMaterial, alpha = batch.alpha * opacity;
      material.opacity = alpha;
      material.transparent = alpha < 1;
      material.depthWrite = alpha >= 1;
      material.needsUpdate = true;
    }
  }

  private paint(): void {
    for (const batch of this.batches) {
      batch.geoms.forEach((i, k) => {
        const geom = this.scene.geoms[i], color = geomColor(geom, this.trees[geom.body], this.theme);
        if (geom.body === this.selected && geom.body > 0) color.lerp(new THREE.Color(0xffffff), 0.35);
        batch.mesh.setColorAt(k, color);
      });
      if (batch.mesh.instanceColor) batch.mesh.instanceColor.needsUpdate = true;
    }
    for (const plane of this.planes) plane.material.setTheme(this.theme);
  }

  /* poses: bodies x 7. */
  update(poses: ArrayLike<number>, center: THREE.Vector3): void {
    setFrames(poses, this.frame);
    const m = new THREE.Matrix4();
    for (const batch of this.batches) {
      for (let k = 0; k < batch.geoms.length; k++) {
        m.multiplyMatrices(this.frame[this.scene.geoms[batch.geoms[k]].body], batch.local[k]);
        m.toArray(batch.mesh.instanceMatrix.array as Float32Array, 16 * k);
      }
      batch.mesh.instanceMatrix.needsUpdate = true;
      batch.mesh.boundingSphere = null;
    }
    for (const plane of this.planes) {
      plane.mesh.matrix.multiplyMatrices(this.frame[this.scene.geoms[plane.geom].body], plane.local);
      plane.mesh.matrixWorldNeedsUpdate = true;
      plane.material.setCenter(center);
    }
  }

  /* The colour that a geom has without light. */
  colorOf(geom: number): string {
    const g = this.scene.geoms[geom];
    return '#' + geomColor(g, this.trees[g.body], this.theme).getHexString();
  }

  frameOf(body: number): THREE.Matrix4 { return this.frame[body]; }

  /* Nearest geom under the ray, planes left out. */
  pick(ray: THREE.Raycaster): { geom: number; body: number; point: THREE.Vector3 } | null {
    const hits = ray.intersectObjects(this.batches.map((b) => b.mesh), false);
    for (const hit of hits) {
      if (hit.instanceId === undefined) continue;
      const geom = (hit.object.userData.geoms as number[])[hit.instanceId];
      return { geom, body: this.scene.geoms[geom].body, point: hit.point };
    }
    return null;
  }

  /* Box of what moves, and of what stands close to it; planes are left out. */
  bounds(): THREE.Box3 {
    const moving = this.boxOf((body) => this.scene.bodies[body].moves !== 0), rest = this.boxOf((body) => this.scene.bodies[body].moves === 0);
    if (moving.isEmpty()) return rest;
    const reach = moving.clone().expandByScalar(0.35 * moving.getSize(new THREE.Vector3()).length());
    return rest.isEmpty() ? moving : moving.union(rest.intersect(reach));
  }

  /* Height of a level floor without end that lies under the box, not much further than the box is large. */
  floorBelow(box: THREE.Box3): number | null {
    const size = box.getSize(new THREE.Vector3()).length();
    for (const plane of this.planes) {
      const e = plane.mesh.matrix.elements, z = e[14];
      if (e[10] > 0.999 && z < box.min.z && box.min.z - z < 2.5 * size) return z;
    }
    return null;
  }

  private boxOf(wanted: (body: number) => boolean): THREE.Box3 {
    const box = new THREE.Box3(), part = new THREE.Box3(), m = new THREE.Matrix4();
    for (const batch of this.batches) {
      batch.mesh.geometry.computeBoundingBox();
      for (let k = 0; k < batch.geoms.length; k++) {
        if (!wanted(this.scene.geoms[batch.geoms[k]].body)) continue;
        batch.mesh.getMatrixAt(k, m);
        box.union(part.copy(batch.mesh.geometry.boundingBox!).applyMatrix4(m));
      }
    }
    return box;
  }

  private clear(): void {
    for (const batch of this.batches) { batch.mesh.dispose(); (batch.mesh.material as THREE.Material).dispose(); }
    for (const plane of this.planes) { plane.mesh.geometry.dispose(); plane.material.material.dispose(); }
    this.batches = [];
    this.planes = [];
    this.group.clear();
  }

  dispose(): void {
    this.clear();
    for (const [, geometry] of this.geometries) geometry.dispose();
    this.geometries.clear();
  }
}

export function localFrame(g: { pos: number[]; quat: number[] } | SceneGeom): THREE.Matrix4 {
  const q = new THREE.Quaternion(g.quat[1], g.quat[2], g.quat[3], g.quat[0]);
  return new THREE.Matrix4().compose(new THREE.Vector3(...(g.pos as [number, number, number])), q, new THREE.Vector3(1, 1, 1));
}

const P = new THREE.Vector3(), Q = new THREE.Quaternion(), ONE = new THREE.Vector3(1, 1, 1);

function setFrames(poses: ArrayLike<number>, frames: THREE.Matrix4[]): void {
  for (let i = 0; i < frames.length; i++) {
    const a = 7 * i;
    P.set(poses[a], poses[a + 1], poses[a + 2]);
    Q.set(poses[a + 4], poses[a + 5], poses[a + 6], poses[a + 3]);
    frames[i].compose(P, Q, ONE);
  }
}
