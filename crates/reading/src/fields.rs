//! Records in JSON that is printed over lines: a field says nothing without what tells its record from the others.

/// Returns what the fields of records stand under: a record's first field, and its address where it has one. `lines` are the
/// lines of one result, each with its number and whether it begins a line. None where no field begins a second record. Linear.
pub(crate) fn heads_of_fields<'l>(lines: impl Iterator<Item = (u32, &'l str, bool)> + Clone) -> Vec<(u32, u32)> {
    let fields = lines.map(|(number, line, starts)| (number, if starts { field_of(line) } else { None }));
    let Some(first) = fields.clone().find_map(|(_, field)| field).map(|(key, _)| key) else { return Vec::new() };
    let begins_record = |field: &Option<(&str, &str)>| field.is_some_and(|(key, _)| key == first);
    if fields.clone().filter(|(_, field)| begins_record(field)).nth(1).is_none() {
        return Vec::new();
    }
    let mut heads = Vec::new();
    let (mut title, mut address) = (None, None);
    for (number, field) in fields {
        if begins_record(&field) {
            (title, address) = (Some(number), None);
            continue;
        }
        heads.extend(address.or(title).map(|head| (number, head)));
        if address.is_none() && field.is_some_and(|(_, value)| value.starts_with("\"http")) {
            address = Some(number);
        }
    }
    heads
}

/// Returns the key of a field that a line begins with, its indentation included, and the value.
fn field_of(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once("\":")?;
    let name = key.trim_start().strip_prefix('"')?;
    (!name.contains('"')).then(|| (key, value.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_under_what_tells_their_record() {
        let check = |result: &str, expect: &[(u32, u32)]| {
            let lines = (0..).zip(result.lines()).map(|(number, line)| (number, line, !line.starts_with('+')));
            assert_eq!(heads_of_fields(lines), expect, "{result}");
        };
        let record =
            |name: &str| format!("  \"title\": \"{name}\",\n  \"url\": \"https://{name}\",\n  \"text\": \"of it\"\n");
        check(&format!("{}{}", record("a"), record("b")), &[(1, 0), (2, 1), (4, 3), (5, 4)]);
        check("{\"id\": 1,\n\"of\": \"x\"\n+ more of x\n{\"id\": 2,", &[]);
        check("\"id\": 1,\n\"of\": \"x\n+ more\"\n\"id\": 2,\n\"of\": \"y\"", &[(1, 0), (2, 0), (4, 3)]);
        check(&record("alone"), &[]);
        check("no json\nat all", &[]);
    }
}
