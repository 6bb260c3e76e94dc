//! The range of plugin API versions a package works with, such as `>=1.0, <2`.

use std::fmt;

/// A conjunction of bounds on the API version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiRange {
    text: String,
    bounds: Vec<(Relation, (u32, u32))>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    AtLeast,
    Above,
    AtMost,
    Below,
    Equal,
}

impl ApiRange {
    /// Reads comma-separated bounds: `>=`, `>`, `<=`, `<` or `=` before `MAJOR` or `MAJOR.MINOR`. `None` for anything
    /// else.
    pub fn parse(text: &str) -> Option<Self> {
        let bounds = text
            .split(',')
            .map(|bound| parse_bound(bound.trim()))
            .collect::<Option<Vec<_>>>()?;
        Some(Self {
            text: text.to_owned(),
            bounds,
        })
    }

    /// Whether the API version lies inside the range.
    pub fn contains(&self, major: u32, minor: u32) -> bool {
        let version = (major, minor);
        self.bounds.iter().all(|&(relation, bound)| match relation {
            Relation::AtLeast => version >= bound,
            Relation::Above => version > bound,
            Relation::AtMost => version <= bound,
            Relation::Below => version < bound,
            Relation::Equal => version == bound,
        })
    }
}

impl fmt::Display for ApiRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn parse_bound(text: &str) -> Option<(Relation, (u32, u32))> {
    let relations = [
        (">=", Relation::AtLeast),
        ("<=", Relation::AtMost),
        (">", Relation::Above),
        ("<", Relation::Below),
        ("=", Relation::Equal),
    ];
    let (relation, version) = relations
        .into_iter()
        .find_map(|(sign, relation)| text.strip_prefix(sign).map(|version| (relation, version.trim_start())))?;
    let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
    let number = |digits: &str| {
        digits
            .bytes()
            .all(|b| b.is_ascii_digit())
            .then(|| digits.parse().ok())?
    };
    Some((relation, (number(major)?, number(minor)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_versions() {
        let table = [
            (">=1.0, <2", [(1, 0), (1, 7)], [(0, 9), (2, 0)]),
            (">= 1.2", [(1, 2), (3, 0)], [(1, 1), (0, 5)]),
            (">1,<=1.3", [(1, 1), (1, 3)], [(1, 0), (1, 4)]),
            ("=1.2", [(1, 2), (1, 2)], [(1, 1), (1, 3)]),
            ("<2", [(0, 0), (1, 99)], [(2, 0), (3, 0)]),
        ];
        for (text, inside, outside) in table {
            let range = ApiRange::parse(text).unwrap();
            assert_eq!(range.to_string(), text);
            for (major, minor) in inside {
                assert!(range.contains(major, minor), "{text} {major}.{minor}");
            }
            for (major, minor) in outside {
                assert!(!range.contains(major, minor), "{text} {major}.{minor}");
            }
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "1.0",
            ">=",
            ">=1.",
            ">=1.0.0",
            ">=1,",
            "^1",
            ">=+1",
            ">=99999999999",
            ">=a",
        ] {
            assert_eq!(ApiRange::parse(text), None, "{text}");
        }
    }
}
