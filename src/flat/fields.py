"""Writes the table of fields of rattleback/flat.h from the structs of the public headers.

The headers are the one list: a field is known to every language once it stands in a struct with its
comment, whose last bracket is its shape: (nbody x 3). Several names of one declaration share the
first length and have the second ones in their order: `*a, *b; (n x 3, 4)`. Offsets and sizes are
left to the C compiler.

usage: fields.py INCLUDE OUT.c [STRUCT,..]   only these, without the sentences
"""
import os
import re
import sys

# structs of the table, with their headers
STRUCTS = {
    "base.h": ["rb_error", "rb_rng"],
    "spec.h": ["rb_where", "rb_pose", "rb_led_motion", "rb_material", "rb_muscle", "rb_option",
               "rb_warning", "rb_body_def", "rb_joint_def", "rb_geom_def", "rb_site_def",
               "rb_hull_def", "rb_mesh_def", "rb_chain_joint", "rb_wrap_def", "rb_servo",
               "rb_dcmotor", "rb_equality_def", "rb_tendon_def", "rb_actuator_def",
               "rb_exclude_def", "rb_pair_def", "rb_key_def", "rb_custom_def", "rb_sensor_def"],
    "model.h": ["rb_plane_link", "rb_path", "rb_meet", "rb_fluid_shape", "rb_model", "rb_data", "rb_touch_id",
                "rb_touch"],
    "solve.h": ["rb_certificate", "rb_info"],
    "collide.h": ["rb_manifold_point", "rb_contact", "rb_toi", "rb_ray_hit", "rb_distance"],
    "step.h": ["rb_step_opts", "rb_event", "rb_jam_part", "rb_step_info", "rb_settle_info"],
    "sensor.h": ["rb_contact_force"],
    "impact.h": ["rb_impact", "rb_impact_result", "rb_impact_certificate", "rb_impact_body",
                 "rb_impact_time"],
    "poses.h": ["rb_facet", "rb_rest_pose", "rb_part", "rb_drop", "rb_drop_opts"],
    "flat.h": ["rb_flat_problem"],
}

TYPES = {"double": "DOUBLE", "int": "INT", "unsigned": "UINT", "long": "LONG",
         "uint32_t": "UINT", "uint64_t": "UINT64", "size_t": "SIZE", "char": "CHAR",
         "unsigned char": "UCHAR", "signed char": "SCHAR"}


def read_structs(text):
    """{name: body} of all `typedef struct NAME { .. } NAME;`."""
    found = {}
    for match in re.finditer(r"^(?:typedef )?struct (\w+) \{\n(.*?)^\}( \w+)?;", text, re.M | re.S):
        found[match.group(1)] = match.group(2)
    return found


def read_enums(text):
    return set(re.findall(r"typedef enum (\w+) \{", text))


def declarations(body):
    """(type, [declarators], comment) of each field; function pointers are left out."""
    tokens = re.findall(r"/\*.*?\*/|[^;/]+;|/", body, re.S)
    pending = []
    for token in tokens:
        token = token.strip()
        if token.startswith("/*"):
            comment = re.sub(r"\s+", " ", token[2:-2]).strip()
            if pending:
                for declaration in pending:
                    yield (*declaration, comment)
                pending = []
            continue
        declaration = re.sub(r"\s+", " ", token.rstrip(";")).strip()
        match = re.match(r"(?:const )?(?:struct )?((?:(?:un)?signed char)|\w+) ?(.+)$",
                         declaration)
        if not match or "(" in declaration:
            continue
        # `int a; int b; /* text */`: a comment belongs to the last one before it
        for old in pending:
            yield (*old, "")
        names = [n.strip() for n in match.group(2).split(",")]
        pending = [(match.group(1), names)]
    for declaration in pending:
        yield (*declaration, "")


def shapes(comment, count):
    """The text without its shape, and the lengths of each of `count` arrays, [] where not said."""
    match = re.search(r"\(([^()]*)\)$", comment)
    words = match.group(1) if match else ""
    if not re.fullmatch(r"[\w ]+( x [\w, ]+)?", words) or not re.search(r"\b(n\w*|[a-z]+_max|\d+|"
                                                                         r"RB_\w+)\b", words):
        return comment, [[]] * count
    text = comment[:match.start()].strip()
    first, _, rest = words.partition(" x ")
    second = [w.strip() for w in rest.split(",")] if rest else []
    lengths = []
    for k in range(count):
        extra = second[min(k, len(second) - 1)] if second else None
        lengths.append([first.strip()] + ([extra] if extra and extra != "1" else []))
    return text, lengths


def length(word, owner, fields):
    """A length as C: {factor, where the count is}; None: not understood."""
    match = re.fullmatch(r"(?:(\d+|RB_\w+) )?(\w+)", word)
    if not match:
        return None
    factor, name = match.group(1) or "1", match.group(2)
    if name in fields:
        return f"{{{factor}, offsetof({owner}, {name})}}"
    if re.fullmatch(r"\d+|RB_[A-Z_0-9]+", name):
        return f"{{{name}, RB_NO_COUNT}}"
    return None


def rows_of(owner, body, enums, known, brief):
    """Rows of the table for one struct."""
    listed = list(declarations(body))
    fields = {re.sub(r"[*\[].*|\W", "", n.replace("*", "")) for _, names, _ in listed for n in names}
    for type_name, names, comment in listed:
        text, lengths = shapes(comment, len(names))
        for declarator, own in zip(names, lengths):
            match = re.fullmatch(r"(\**)(?:const )?(\w+)((?:\[\w+\])*)", declarator.replace(" ", ""))
            if not match or len(match.group(1)) > 1 or match.group(2) == "memory":
                continue
            stars, name, brackets = match.groups()
            dims = re.findall(r"\[(\w+)\]", brackets)
            kind = TYPES.get(type_name) or ("INT" if type_name in enums else
                                            "STRUCT" if type_name in known else None)
            if kind is None or (stars and dims):
                continue
            if stars and type_name == "char" and not own:
                kind, own = "TEXT", []
            elif stars and not own:
                continue
            counts = [length(w, owner, fields) for w in (own if stars else dims)]
            if None in counts:
                continue
            text = "" if brief else text
            quoted = text.replace("\\", "\\\\").replace('"', '\\"')
            cells = ", ".join(counts + ["{0, RB_NO_COUNT}"] * (2 - len(counts)))
            pointer = int(bool(stars) and kind != "TEXT")
            yield (f'    {{ "{owner}", "{name}", "{type_name}", RB_FIELD_{kind}, {pointer}, '
                   f'{len(counts)}, (size_t)offsetof({owner}, {name}), '
                   f'sizeof({type_name}{" *" if kind == "TEXT" else ""}), '
                   f'{{ {cells} }},\n      "{quoted}" }},')


def main():
    include, out = sys.argv[1:3]
    brief = len(sys.argv) > 3  # without the sentences
    headers = sorted(os.listdir(os.path.join(include, "rattleback")))
    texts = {h: open(os.path.join(include, "rattleback", h), encoding="utf-8").read()
             for h in headers}
    enums = set().union(*(read_enums(t) for t in texts.values()))
    known = {s for group in STRUCTS.values() for s in group}
    rows, sizes = [], []
    for header, wanted in STRUCTS.items():
        bodies = read_structs(texts[header])
        for owner in wanted:
            if brief and owner not in sys.argv[3].split(","):
                continue
            if owner not in bodies:
                sys.exit(f"fields.py: {header} has no struct {owner}")
            rows += rows_of(owner, bodies[owner], enums, known, brief)
            sizes.append(f'    {{ "{owner}", sizeof({owner}) }},')
    of_data = [k for k, row in enumerate(rows) if row.startswith('    { "rb_data",')]
    lines = ["/* Written by src/flat/fields.py from the headers. */", '#include "flat/fields.h"', "",
             *(f'#include "rattleback/{h}.h"' for h in ("rattleback", "io", "flat")), "",
             "const rb_field rb_flat_fields[] = {", *rows, "};",
             "const int rb_flat_nfield = (int)(sizeof rb_flat_fields / sizeof *rb_flat_fields);", "",
             f"const int rb_flat_data_first = {of_data[0]}, rb_flat_data_count = {len(of_data)};", "",
             "const rb_flat_struct rb_flat_structs[] = {", *sizes, "};",
             "const int rb_flat_nstruct = (int)(sizeof rb_flat_structs / sizeof *rb_flat_structs);"]
    with open(out, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
