/* Which coefficient of friction a contact has in this step (F.13). */
#ifndef RB_CONTACT_LAW_H
#define RB_CONTACT_LAW_H

#include "contact/contact.h"

/* At this speed of the surfaces [m/s]; `slides`: whether they slid in the step before, which counts
 * where the material has no Stribeck speed. */
double rb_friction_at(const rb_material *material, double speed, int slides);

/* Of constraint i of the island, a contact with tangents, as it moved before the step. */
double rb_friction_now(const rb_island *island, int i);

/* RB_UNSUPPORTED where a contact has a friction polygon: only polyhedral formulations know one. */
rb_status rb_refuse_polygons(const rb_island *island);

#endif
