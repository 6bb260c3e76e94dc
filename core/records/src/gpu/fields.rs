//! The fields that AIPerf 0.13.0 knows: display name and unit, in the order of its tables.

use crate::units::display_factor;

/// A field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Key in files.
    pub name: &'static str,
    /// Name in tables, without unit.
    pub header: &'static str,
    /// Unit in which the original reports it.
    pub unit: &'static str,
}

const fn field(name: &'static str, header: &'static str, unit: &'static str) -> Field {
    Field { name, header, unit }
}

/// The fields, in order.
pub const KNOWN: [Field; 21] = [
    field("nvidia_power_usage", "NVIDIA GPU Power Usage", "W"),
    field("nvidia_energy_consumption", "NVIDIA Energy Consumption", "MJ"),
    field("nvidia_gpu_utilization", "NVIDIA GPU Utilization", "%"),
    field("nvidia_memory_utilization", "NVIDIA Memory Utilization", "%"),
    field("nvidia_memory_used", "NVIDIA GPU Memory Used", "GB"),
    field("nvidia_temperature", "NVIDIA GPU Temperature", "°C"),
    field("nvidia_sm_utilization", "NVIDIA SM Utilization", "%"),
    field("nvidia_decoder_utilization", "NVIDIA Decoder Utilization", "%"),
    field("nvidia_encoder_utilization", "NVIDIA Encoder Utilization", "%"),
    field("nvidia_jpg_utilization", "NVIDIA JPEG Utilization", "%"),
    field("nvidia_xid_errors", "NVIDIA XID Errors", "count"),
    field("nvidia_power_violation", "NVIDIA Power Violation", "us"),
    field("amd_power", "AMD GPU Power", "W"),
    field("amd_energy_consumption", "AMD Energy Consumption", "MJ"),
    field("amd_gfx_activity", "AMD GFX Activity", "%"),
    field("amd_umc_activity", "AMD UMC Activity", "%"),
    field("amd_mm_activity", "AMD MM Activity", "%"),
    field("amd_memory_used", "AMD GPU Memory Used", "GB"),
    field("amd_temperature", "AMD GPU Temperature", "°C"),
    field("amd_ecc_uncorrectable", "AMD ECC Uncorrectable", "count"),
    field("amd_throttle_status", "AMD Throttle Status", "count"),
];

/// Vendors whose power and energy make efficiency metrics: name, and the fields of power and energy.
pub const VENDORS: [(&str, &str, &str); 2] = [
    ("nvidia", "nvidia_power_usage", "nvidia_energy_consumption"),
    ("amd", "amd_power", "amd_energy_consumption"),
];

/// The vendor whose prefix a field carries.
#[must_use]
pub fn vendor_of(field: &str) -> Option<&'static str> {
    VENDORS
        .into_iter()
        .map(|(vendor, ..)| vendor)
        .find(|vendor| field.strip_prefix(vendor).is_some_and(|rest| rest.starts_with('_')))
}

/// Position among the known fields.
#[must_use]
pub fn position(field: &str) -> Option<usize> {
    KNOWN.iter().position(|known| known.name == field)
}

/// The unit in which a field is exported and what its values are multiplied by: known fields of power, energy and time
/// come in the original's unit whatever the collector measures in, because its files do not say the unit. Others stay as
/// they are.
#[must_use]
pub fn exported<'a>(field: &str, unit: &'a str) -> (&'a str, f64) {
    let known = position(field).map(|index| KNOWN[index].unit);
    // Sizes are left alone: the original's GB of memory are decimal, its conversions binary.
    match known.filter(|unit| matches!(*unit, "W" | "MJ" | "us")) {
        Some(wanted) => display_factor(unit, wanted).map_or((unit, 1.0), |factor| (wanted, factor)),
        None => (unit, 1.0),
    }
}

/// Name of a field in tables: the original's, or the words of the field.
#[must_use]
pub fn header(field: &str) -> String {
    const ACRONYMS: [&str; 14] = [
        "amd", "cpu", "ecc", "gpu", "hbm", "nvidia", "nvlink", "pci", "pcie", "ram", "sm", "tpu", "vram", "xid",
    ];
    if let Some(index) = position(field) {
        return KNOWN[index].header.to_owned();
    }
    let word = |word: &str| {
        let mut letters = word.chars();
        match letters.next() {
            Some(_) if ACRONYMS.contains(&word.to_ascii_lowercase().as_str()) => word.to_uppercase(),
            Some(first) => first.to_uppercase().chain(letters).collect(),
            None => String::new(),
        }
    };
    let words = field.split('_').filter(|word| !word.is_empty());
    words.map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_named() {
        for (field, expected) in [
            ("nvidia_jpg_utilization", "NVIDIA JPEG Utilization"),
            ("power_usage", "Power Usage"),
            ("hbm_bytes", "HBM Bytes"),
            ("DCGM_FI_DEV_sm_clock", "DCGM FI DEV SM Clock"),
            ("__", ""),
        ] {
            assert_eq!(header(field), expected);
        }
    }

    #[test]
    fn vendors_are_told_by_prefix() {
        for (field, expected) in [
            ("nvidia_xid_errors", Some("nvidia")),
            ("amd_power", Some("amd")),
            ("amdahl", None),
            ("power_usage", None),
        ] {
            assert_eq!(vendor_of(field), expected, "{field}");
        }
    }

    #[test]
    fn only_units_that_files_leave_out_are_converted() {
        for (field, unit, expected) in [
            ("nvidia_power_usage", "mW", ("W", 0.001)),
            ("nvidia_energy_consumption", "mJ", ("MJ", 0.001 / 1e6)),
            ("amd_energy_consumption", "J", ("MJ", 1e-6)),
            ("nvidia_power_violation", "ns", ("us", 0.001)),
            ("nvidia_power_usage", "W", ("W", 1.0)),
            // No conversion is known, or none is meant.
            ("nvidia_power_usage", "hp", ("hp", 1.0)),
            ("nvidia_memory_used", "B", ("B", 1.0)),
            ("power_usage", "mW", ("mW", 1.0)),
        ] {
            assert_eq!(exported(field, unit), expected, "{field}");
        }
    }
}
