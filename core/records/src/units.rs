//! Conversion from the unit a metric is computed in to the one it is shown in.

/// A metric asks for a display unit its unit does not convert to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot show `{unit}` as `{display_unit}`: units convert only within one dimension ({known})", known = known())]
pub struct UnitError {
    /// Unit of the values.
    pub unit: String,
    /// Unit asked for.
    pub display_unit: String,
}

/// How the numbers of a dimension relate to its units.
#[derive(Clone, Copy)]
enum Scale {
    /// How many of the unit make up the reference (1000 ms make a second). Factors are taken in this direction so that
    /// ns to ms is `1e3 / 1e9`, whose products have the same bits as the original's.
    PerReference,
    /// How many of the reference make up the unit (1024 bytes make a KB).
    OfReference,
}

/// The dimensions within which units convert: time, size, power, energy.
const DIMENSIONS: [(Scale, &[(&str, f64)]); 4] = [
    (
        Scale::PerReference,
        &[("ns", 1e9), ("us", 1e6), ("ms", 1e3), ("sec", 1.0)],
    ),
    (
        Scale::OfReference,
        &[
            ("B", 1.0),
            ("KB", 1024.0),
            ("MB", 1_048_576.0),
            ("GB", 1_073_741_824.0),
            ("TB", 1_099_511_627_776.0),
        ],
    ),
    (Scale::OfReference, &[("W", 1.0), ("mW", 0.001)]),
    (Scale::OfReference, &[("J", 1.0), ("mJ", 0.001), ("MJ", 1e6)]),
];

/// What a value in `unit` is multiplied by to be shown in `display_unit`: 1e-6 from `ns` to `ms`, 1/1024 from `B` to
/// `KB`, 1 between equal units whatever they are.
///
/// # Errors
/// If the units differ and are not of one dimension.
pub fn display_factor(unit: &str, display_unit: &str) -> Result<f64, UnitError> {
    if unit == display_unit {
        return Ok(1.0);
    }
    DIMENSIONS
        .iter()
        .find_map(|(scale, units)| {
            let number = |name: &str| units.iter().find(|(unit, _)| *unit == name).map(|&(_, number)| number);
            let (from, to) = (number(unit)?, number(display_unit)?);
            Some(match scale {
                Scale::PerReference => to / from,
                Scale::OfReference => from / to,
            })
        })
        .ok_or_else(|| UnitError {
            unit: unit.to_owned(),
            display_unit: display_unit.to_owned(),
        })
}

fn known() -> String {
    let names = |units: &[(&str, f64)]| units.iter().map(|&(name, _)| name).collect::<Vec<_>>().join(" ");
    DIMENSIONS.map(|(_, units)| names(units)).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors() {
        for (unit, display_unit, factor) in [
            ("ns", "ms", 1e-6),
            ("ns", "sec", 1e-9),
            ("sec", "ms", 1e3),
            ("us", "ns", 1e3),
            ("B", "KB", 1.0 / 1024.0),
            ("GB", "MB", 1024.0),
            ("W", "mW", 1e3),
            ("mJ", "J", 1e-3),
            ("J", "MJ", 1e-6),
            ("tokens/sec/user", "tokens/sec/user", 1.0),
            ("furlongs", "furlongs", 1.0),
        ] {
            assert_eq!(
                display_factor(unit, display_unit),
                Ok(factor),
                "{unit} to {display_unit}"
            );
        }
    }

    #[test]
    fn other_dimensions_and_unknown_units_are_refused() {
        for (unit, display_unit) in [
            ("ns", "KB"),
            ("tokens", "ms"),
            ("W", "J"),
            ("ms", "seconds"),
            ("NS", "ms"),
        ] {
            let error = display_factor(unit, display_unit).unwrap_err().to_string();
            assert!(
                error.contains(unit) && error.contains(display_unit) && error.contains("ns us ms sec"),
                "{error}"
            );
        }
    }
}
