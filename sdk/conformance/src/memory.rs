//! Memory of this process.

/// Resident memory in bytes; `None` where the system does not tell it this way.
pub(crate) fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(target_os = "linux")]
    fn touched_memory_is_resident() {
        let before = super::resident().unwrap();
        let block = std::hint::black_box(vec![1_u8; 64 << 20]);
        let after = super::resident().unwrap();
        // Another test may free something meanwhile.
        assert!(after >= before + (32 << 20), "{before} {after} {}", block.len());
    }
}
