/* Principal axes of the inertia of a mesh as MuJoCo finds them. */
#ifndef RB_MODEL_PRINCIPAL_H
#define RB_MODEL_PRINCIPAL_H

/* MuJoCo keeps meshes in their principal axes, and the Jacobi iteration that finds these ends when
 * the largest product of inertia is below 1e-7 of the largest element (measured on MuJoCo 4.0).
 * What is left is dropped: its body is not quite that of the file. With rb_option.rough_axes ours
 * is the same one, to rounding: I becomes what MuJoCo leaves of it. */
void rb_inertia_rough(double I[6]);

/* Axes of the moments in descending order, as a quaternion: the frame that MuJoCo gives a body. */
void rb_inertia_axes(const double I[6], double q[4]);

#endif
