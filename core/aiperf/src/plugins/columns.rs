//! Text in columns.

/// Rows as lines: columns as wide as their longest cell, two spaces between them, nothing behind the last.
pub(super) fn aligned<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> String {
    let head = head.map(str::to_owned);
    let all = || std::iter::once(&head).chain(rows);
    let widths: [usize; N] =
        std::array::from_fn(|column| all().map(|row| row[column].chars().count()).max().unwrap_or(0));
    let mut text = String::new();
    for row in all() {
        let mut line = String::from(" ");
        for (cell, width) in row.iter().zip(widths) {
            line.push(' ');
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width - cell.chars().count() + 1));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [["a".to_owned(), "é".to_owned()], ["long one".to_owned(), String::new()]];
        assert_eq!(
            aligned(["NAME", "B"], &rows),
            "  NAME      B\n  a         é\n  long one\n"
        );
    }
}
