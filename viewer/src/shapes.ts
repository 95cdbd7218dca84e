/* Triangles of the shapes: unit shapes that are scaled, and those that have to be made to measure. */

import * as THREE from 'three';
import { f32, Scene, SceneField, SceneMesh, u16, u32 } from './data';

export interface Piece { key: string; scale: THREE.Vector3; make: () => THREE.BufferGeometry }

const vec = (x: number, y: number, z: number): THREE.Vector3 => new THREE.Vector3(x, y, z);

/* Rings and slices of round shapes: fewer where there are many of them. */
export function roundness(count: number, fine: boolean): number {
  if (!fine) return count > 400 ? 10 : count > 100 ? 14 : 20;
  return count > 400 ? 12 : count > 100 ? 20 : 36;
}

export function pieceOf(shape: { type: string; size: number[]; asset?: number }, scene: Scene,
                        round: number): Piece | null {
  const [a, b, c] = shape.size;
  switch (shape.type) {
    case 'sphere':
      return { key: 'sphere', scale: vec(a, a, a), make: () => new THREE.SphereGeometry(1, round, round >> 1) };
    case 'ellipsoid':
      return { key: 'sphere', scale: vec(a, b, c), make: () => new THREE.SphereGeometry(1, round, round >> 1) };
    case 'box':
      return { key: 'box', scale: vec(a, b, c), make: () => new THREE.BoxGeometry(2, 2, 2) };
    case 'cylinder':
      return { key: 'cylinder', scale: vec(a, a, b), make: () => upright(new THREE.CylinderGeometry(1, 1, 2, round)) };
    case 'capsule': {
      const ratio = 2 * b / a;
      return {
        key: 'capsule ' + ratio.toPrecision(6), scale: vec(a, a, a),
        make: () => upright(new THREE.CapsuleGeometry(1, ratio, Math.max(4, round >> 2), round)),
      };
    }
    case 'mesh':
      return scene.meshes[shape.asset ?? -1]
        ? { key: 'mesh ' + shape.asset, scale: vec(1, 1, 1), make: () => meshGeometry(scene.meshes[shape.asset!]) } : null;
    case 'hfield':
      return scene.hfields[shape.asset ?? -1]
        ? { key: 'hfield ' + shape.asset, scale: vec(1, 1, 1), make: () => fieldGeometry(scene.hfields[shape.asset!]) } : null;
    default:
      return null;
  }
}

/* three.js has its axis along y, we have it along z. */
function upright(geometry: THREE.BufferGeometry): THREE.BufferGeometry {
  return geometry.rotateX(Math.PI / 2);
}

function meshGeometry(mesh: SceneMesh): THREE.BufferGeometry {
  const raw = u16(mesh.vert_u16), points = new Float32Array(raw.length);
  for (let i = 0; i < raw.length; i++) {
    const lo = mesh.lo[i % 3], hi = mesh.hi[i % 3];
    points[i] = lo + (hi - lo) * raw[i] / 65535;
  }
  const faces = mesh.face_u32 !== undefined ? u32(mesh.face_u32) : u16(mesh.face_u16 ?? '');
  return creased(points, faces);
}

/* Normals of vertices where faces meet smoothly, of faces where they meet at an edge: corners of a part
 * stay sharp and round parts stay round. */
function creased(points: Float32Array, faces: ArrayLike<number>): THREE.BufferGeometry {
  const nface = faces.length / 3, normal = new Float32Array(3 * nface), cosine = Math.cos(0.6);
  const around = new Map<string, number[]>();
  const keyOf = (v: number): string => points[3 * v] + ' ' + points[3 * v + 1] + ' ' + points[3 * v + 2];
  const a = vec(0, 0, 0), b = vec(0, 0, 0), c = vec(0, 0, 0), area = new Float32Array(nface);
  for (let f = 0; f < nface; f++) {
    a.fromArray(points, 3 * faces[3 * f]); b.fromArray(points, 3 * faces[3 * f + 1]); c.fromArray(points, 3 * faces[3 * f + 2]);
    b.sub(a).cross(c.sub(a));
    area[f] = b.length();
    b.normalize().toArray(normal, 3 * f);
    for (let k = 0; k < 3; k++) {
      const key = keyOf(faces[3 * f + k]), list = around.get(key);
      if (list) list.push(f); else around.set(key, [f]);
    }
  }
  const position = new Float32Array(9 * nface), shade = new Float32Array(9 * nface);
  for (let f = 0; f < nface; f++) {
    a.fromArray(normal, 3 * f);
    for (let k = 0; k < 3; k++) {
      const v = faces[3 * f + k], at = 9 * f + 3 * k;
      b.set(0, 0, 0);
      for (const g of around.get(keyOf(v)) ?? []) {
        c.fromArray(normal, 3 * g);
        if (c.dot(a) > cosine) b.addScaledVector(c, area[g]);
      }
      if (b.lengthSq() === 0) b.copy(a);
      b.normalize().toArray(shade, at);
      position.set(points.subarray(3 * v, 3 * v + 3), at);
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.BufferAttribute(position, 3));
  geometry.setAttribute('normal', new THREE.BufferAttribute(shade, 3));
  return geometry;
}

function fieldGeometry(field: SceneField): THREE.BufferGeometry {
  const elevation = f32(field.elev_f32), { nrow, ncol } = field, [rx, ry] = field.size;
  const position = new Float32Array(3 * nrow * ncol), index: number[] = [];
  for (let r = 0; r < nrow; r++) {
    for (let c = 0; c < ncol; c++) {
      const i = r * ncol + c;
      position[3 * i] = ncol > 1 ? rx * (2 * c / (ncol - 1) - 1) : 0;
      position[3 * i + 1] = nrow > 1 ? ry * (2 * r / (nrow - 1) - 1) : 0;
      position[3 * i + 2] = elevation[i];
      if (r + 1 < nrow && c + 1 < ncol) index.push(i, i + 1, i + ncol + 1, i, i + ncol + 1, i + ncol);
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.BufferAttribute(position, 3));
  geometry.setIndex(index);
  geometry.computeVertexNormals();
  return geometry;
}

/* An arrow of length 1 along z: its shaft and its head, drawn as two instances. */
export const shaftGeometry = (sides = 10): THREE.BufferGeometry => upright(new THREE.CylinderGeometry(1, 1, 1, sides, 1, true)).translate(0, 0, 0.5);
export const headGeometry = (sides = 16, open = false): THREE.BufferGeometry => upright(new THREE.ConeGeometry(1, 1, sides, 1, open)).translate(0, 0, -0.5);
/* A ball of the fewest triangles. */
export function diamondGeometry(): THREE.BufferGeometry {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.Float32BufferAttribute([1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1], 3));
  return geometry.setIndex([0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5]);
}
/* Its apex in the origin, opening along +z: radius and height 1. */
export const openConeGeometry = (): THREE.BufferGeometry =>
  upright(new THREE.ConeGeometry(1, 1, 24, 1, true)).rotateX(Math.PI).translate(0, 0, 0.5);
