//! Tables of box characters: a heavy head over a light body, as the original's console draws them.

use unicode_width::UnicodeWidthChar;

/// Where a column's text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A table with a title, which may have several lines.
pub(crate) struct Table {
    title: String,
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new(title: impl Into<String>, columns: impl IntoIterator<Item = (&'static str, Align)>) -> Self {
        Self {
            title: title.into(),
            columns: columns
                .into_iter()
                .map(|(name, align)| (name.to_owned(), align))
                .collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row of one cell per column. A cell may have several lines.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells.iter().map(|cell| harmless(cell)).collect());
    }

    /// Draws the table, at most `width` columns wide where that is possible.
    pub(crate) fn draw(&self, width: usize) -> String {
        let widths = self.widths(width);
        let total = widths.iter().sum::<usize>() + 3 * widths.len() + 1;
        let mut out = String::new();
        for text in wrap(&harmless(&self.title), total) {
            line(&mut out, &centred(&text, total));
        }
        line(&mut out, &rule(&widths, ["┏━", "━┳━", "━┓"], '━'));
        let names: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        self.draw_row(&mut out, &names, &widths, "┃");
        line(&mut out, &rule(&widths, ["┡━", "━╇━", "━┩"], '━'));
        for row in &self.rows {
            self.draw_row(&mut out, row, &widths, "│");
        }
        line(&mut out, &rule(&widths, ["└─", "─┴─", "─┘"], '─'));
        out
    }

    /// Widths of the contents. Where they don't fit, the widest column gives way first.
    fn widths(&self, limit: usize) -> Vec<usize> {
        let natural = |index: usize, name: &str| {
            let cells = self.rows.iter().filter_map(|row| row.get(index));
            cells.map(|cell| widest_line(cell)).fold(width_of(name), usize::max)
        };
        let mut widths: Vec<usize> = self
            .columns
            .iter()
            .enumerate()
            .map(|(index, (name, _))| natural(index, name))
            .collect();
        let available = limit.saturating_sub(3 * widths.len() + 1).max(widths.len());
        while widths.iter().sum::<usize>() > available {
            let Some(widest) = (0..widths.len()).max_by_key(|&index| widths[index]) else {
                break;
            };
            widths[widest] -= 1;
        }
        widths
    }

    fn draw_row(&self, out: &mut String, cells: &[String], widths: &[usize], border: &str) {
        let wrapped: Vec<Vec<String>> = cells
            .iter()
            .zip(widths)
            .map(|(cell, &width)| wrap(cell, width))
            .collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(1);
        for at in 0..height {
            out.push_str(border);
            for ((lines, &width), (_, align)) in wrapped.iter().zip(widths).zip(&self.columns) {
                let text = lines.get(at).map_or("", String::as_str);
                let space = " ".repeat(width.saturating_sub(width_of(text)));
                let (before, after) = match align {
                    Align::Left => ("", space.as_str()),
                    Align::Right => (space.as_str(), ""),
                };
                out.push_str(&format!(" {before}{text}{after} {border}"));
            }
            out.push('\n');
        }
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

fn rule(widths: &[usize], [left, middle, right]: [&str; 3], stroke: char) -> String {
    let strokes: Vec<String> = widths.iter().map(|&width| stroke.to_string().repeat(width)).collect();
    format!("{left}{}{right}", strokes.join(middle))
}

fn centred(text: &str, width: usize) -> String {
    let space = width.saturating_sub(width_of(text));
    format!("{}{text}{}", " ".repeat(space / 2), " ".repeat(space - space / 2))
}

fn width_of(text: &str) -> usize {
    text.chars().map(|one| one.width().unwrap_or(0)).sum()
}

fn widest_line(text: &str) -> usize {
    text.lines().map(width_of).max().unwrap_or(0)
}

/// Texts of servers must not steer the terminal.
fn harmless(text: &str) -> String {
    text.replace("\r\n", "\n")
        .chars()
        .map(|one| if one.is_control() && one != '\n' { ' ' } else { one })
        .collect()
}

/// Lines of at most `width`, broken between words where possible.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut current = String::new();
        for word in paragraph.split_inclusive(' ') {
            if width_of(&current) + width_of(word.trim_end()) > width && !current.is_empty() {
                lines.push(current.trim_end().to_owned());
                current.clear();
            }
            for one in word.chars() {
                let full = width_of(&current) + one.width().unwrap_or(0) > width;
                if full && one != ' ' && !current.is_empty() {
                    lines.push(current.trim_end().to_owned());
                    current.clear();
                }
                current.push(one);
            }
        }
        lines.push(current.trim_end().to_owned());
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_cells_wrap_between_words() {
        let mut table = Table::new(
            "NVIDIA AIPerf | Error Summary",
            [
                ("Code", Align::Right),
                ("Type", Align::Right),
                ("Message", Align::Left),
                ("Count", Align::Right),
            ],
        );
        table.row(
            ["503", "Service Unavailable", "upstream is down", "1,234"]
                .map(str::to_owned)
                .to_vec(),
        );
        let message = "Cannot connect to host 127.0.0.1:8000 ssl:default [Connect call failed ('127.0.0.1', 8000)] \
                       because the server is not listening on the port";
        table.row(
            ["N/A", "ClientConnectorError", message, "4"]
                .map(str::to_owned)
                .to_vec(),
        );
        // Drawn by the library that the original uses.
        let expected = "                         NVIDIA AIPerf | Error Summary                          
┏━━━━━━┳━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━┓
┃ Code ┃                 Type ┃ Message                                ┃ Count ┃
┡━━━━━━╇━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━┩
│  503 │  Service Unavailable │ upstream is down                       │ 1,234 │
│  N/A │ ClientConnectorError │ Cannot connect to host 127.0.0.1:8000  │     4 │
│      │                      │ ssl:default [Connect call failed       │       │
│      │                      │ ('127.0.0.1', 8000)] because the       │       │
│      │                      │ server is not listening on the port    │       │
└──────┴──────────────────────┴────────────────────────────────────────┴───────┘
";
        assert_eq!(table.draw(80), expected);
    }

    #[test]
    fn words_longer_than_a_line_are_cut() {
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("ab cd", 5), ["ab cd"]);
        assert_eq!(wrap("你好世界", 4), ["你好", "世界"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(wrap("a\n\nb", 4), ["a", "", "b"]);
    }

    #[test]
    fn control_characters_are_taken_out() {
        assert_eq!(harmless("a\u{1b}[2J\r\nb\tc\r"), "a [2J\nb c ");
    }

    proptest::proptest! {
        #[test]
        fn no_line_is_wider_than_the_limit(cells in proptest::collection::vec(".{0,60}", 1..6), limit in 20_usize..90) {
            let mut table = Table::new("T", [("A", Align::Left), ("B", Align::Right)]);
            for cell in cells {
                table.row(vec![cell, "1.00".to_owned()]);
            }
            for line in table.draw(limit).lines() {
                proptest::prop_assert!(width_of(line) <= limit, "{line}");
            }
        }
    }
}
