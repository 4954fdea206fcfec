//! Converts HTML pages to Markdown: paragraphs, headings, lists, tables, links, emphasis and code. Of everything else,
//! only the text is kept.

/// Elements whose content no one reads.
const SILENT: [&str; 6] = ["head", "script", "style", "svg", "template", "title"];

/// Elements that begin and end a paragraph.
const BLOCKS: [&str; 23] = [
    "address",
    "article",
    "aside",
    "body",
    "center",
    "dd",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "html",
    "main",
    "nav",
    "p",
    "section",
    "summary",
    "tbody",
    "thead",
];

/// The characters of a tag in which quotes count: a quote that never ends is no quote.
const LONGEST: usize = 10_000;

/// The quotes and lists of which each line shows a mark, and the spans that are open at once; those within are left
/// out.
const DEEPEST: usize = 16;

/// The cells of a row that are written where it has fewer.
const WIDEST: usize = 100;

/// The Markdown of a page, whose headings are below one of the second level.
pub fn as_markdown(html: &str) -> String {
    let mut writer = Writer::default();
    let (mut rest, last_end) = (html, html.rfind('>').unwrap_or(0));
    while !rest.is_empty() {
        let Some((text, after)) = rest.split_once('<') else {
            writer.text(rest);
            break;
        };
        writer.text(text);
        rest = match Tag::read(after) {
            Some((tag, after)) => {
                let is_silent = SILENT.contains(&tag.name.as_str()) && !tag.is_end;
                writer.tag(&tag);
                if is_silent { after_end(after, &tag.name) } else { after }
            }
            // No tag follows either.
            None if html.len() - after.len() > last_end => {
                writer.text("<");
                writer.text(after);
                break;
            }
            None => {
                writer.text("<");
                after
            }
        };
    }
    writer.end_block();
    writer.out.trim().to_owned()
}

/// A tag, or a comment, which has no name.
struct Tag {
    name: String,
    is_end: bool,
    attributes: String,
}

impl Tag {
    /// The tag at whose `<` a text begins, and what follows it.
    fn read(text: &str) -> Option<(Self, &str)> {
        let nameless = |rest| (Self { name: String::new(), is_end: false, attributes: String::new() }, rest);
        if let Some(comment) = text.strip_prefix("!--") {
            return Some(nameless(comment.split_once("-->").map_or("", |(_, rest)| rest)));
        }
        let (is_end, named) = text.strip_prefix('/').map_or((false, text), |named| (true, named));
        if !named.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '!' | '?')) {
            return None;
        }
        let mut quote = None;
        let end = named.char_indices().take(LONGEST).find(|(_, c)| match (quote, c) {
            (None, '>') => true,
            (None, '"' | '\'') => {
                quote = Some(*c);
                false
            }
            (Some(open), c) if open == *c => {
                quote = None;
                false
            }
            _ => false,
        });
        let (inner, rest) = match end {
            Some((at, _)) => (&named[..at], &named[at + 1..]),
            // A quote that never ends is none.
            None => named.split_once('>')?,
        };
        let name_end = inner.find(|c: char| c.is_whitespace() || c == '/').unwrap_or(inner.len());
        let (name, attributes) = inner.split_at(name_end);
        let tag = Self { name: name.to_ascii_lowercase(), is_end, attributes: attributes.to_owned() };
        Some((tag, rest))
    }

    /// The value of an attribute.
    fn attribute(&self, name: &str) -> Option<String> {
        let lower = self.attributes.to_ascii_lowercase();
        let at = lower.match_indices(name).find_map(|(at, _)| {
            let before = lower[..at].chars().next_back().is_some_and(char::is_whitespace);
            let value = lower[at + name.len()..].trim_start().strip_prefix('=').filter(|_| before)?;
            Some(lower.len() - value.trim_start().len())
        })?;
        let value = &self.attributes[at..];
        let quoted = |quote| value.strip_prefix(quote).and_then(|value: &str| value.split(quote).next());
        let bare = || value.split(|c: char| c.is_whitespace() || c == '>').next();
        quoted('"').or_else(|| quoted('\'')).or_else(bare).map(|value| value.trim().to_owned())
    }
}

/// What follows the end of an element.
fn after_end<'t>(text: &'t str, name: &str) -> &'t str {
    let is_end = |at: &usize| {
        let found = text.get(at + 2..at + 2 + name.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(name))
    };
    let end = text.match_indices("</").map(|(at, _)| at).find(is_end);
    end.and_then(|at| text[at..].split_once('>')).map_or("", |(_, rest)| rest)
}

enum Container {
    Quote,
    /// A list with the number of the next item, if it has numbers.
    List(Option<usize>),
}

#[derive(Default)]
struct Writer {
    out: String,
    /// The text of the paragraph so far.
    inline: String,
    containers: Vec<Container>,
    /// The marker of an item that has begun.
    marker: Option<String>,
    /// True if the last block began an item.
    was_item: bool,
    heading: usize,
    /// The beginnings of emphasis and links in the paragraph, with what ends them.
    spans: Vec<(&'static str, usize, String)>,
    /// The cells of the rows of a table.
    table: Option<Vec<Vec<String>>>,
    is_code: bool,
    is_plain: bool,
}

impl Writer {
    fn text(&mut self, text: &str) {
        if self.is_plain {
            return self.inline.push_str(&decoded(text));
        }
        if self.is_code {
            return self.inline.push_str(&decoded(text).replace(['\n', '`'], " "));
        }
        let mut last = self.inline.chars().next_back();
        for (at, c) in text.char_indices() {
            let next = text[at + c.len_utf8()..].chars().next();
            let is_blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
            match c {
                c if c.is_whitespace() && is_blank(last) => continue,
                c if c.is_whitespace() => self.inline.push(' '),
                '_' if last.is_some_and(char::is_alphanumeric) && next.is_some_and(char::is_alphanumeric) => {
                    self.inline.push(c);
                }
                '\\' | '*' | '_' | '`' | '[' | ']' | '<' => self.inline.extend(['\\', c]),
                '|' if self.table.is_some() => self.inline.push_str("\\|"),
                c => self.inline.push(c),
            }
            last = Some(c);
        }
    }

    fn tag(&mut self, tag: &Tag) {
        let (name, begins) = (tag.name.as_str(), !tag.is_end);
        match name {
            "br" if self.is_plain || (self.heading == 0 && self.table.is_none()) => self.break_line(),
            "br" => self.text(" "),
            "hr" => {
                self.end_block();
                self.block("---");
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.end_block();
                let level = name[1..].parse().unwrap_or(1);
                self.heading = if begins { (level + 2).min(6) } else { 0 };
            }
            "ul" | "ol" | "blockquote" => self.container(name, begins),
            "li" if begins => self.item(),
            "strong" | "b" => self.span("**", begins, String::new()),
            "em" | "i" => self.span("*", begins, String::new()),
            "a" => self.span("a", begins, tag.attribute("href").unwrap_or_default()),
            "img" => self.image(tag),
            "code" | "tt" | "kbd" if !self.is_plain && self.is_code != begins => {
                self.is_code = begins;
                self.inline.push('`');
            }
            "pre" => self.pre(begins),
            "table" => self.table(begins),
            "tr" if begins => {
                self.inline.clear();
                self.table.iter_mut().for_each(|rows| rows.push(Vec::new()));
            }
            "td" | "th" if tag.is_end => self.cell(),
            _ if BLOCKS.contains(&name) || name == "li" => self.end_block(),
            _ => {}
        }
    }

    fn break_line(&mut self) {
        let kept = self.inline.trim_end().len();
        self.inline.truncate(kept);
        self.inline.push_str(if self.is_plain || kept == 0 { "\n" } else { "  \n" });
    }

    fn container(&mut self, name: &str, begins: bool) {
        self.end_block();
        if !begins {
            self.marker = None;
            self.containers.pop();
            return;
        }
        self.containers.push(match name {
            "ul" => Container::List(None),
            "ol" => Container::List(Some(1)),
            _ => Container::Quote,
        });
    }

    fn item(&mut self) {
        self.end_block();
        self.marker = Some(match self.containers.last_mut() {
            Some(Container::List(Some(n))) => {
                *n += 1;
                format!("{}. ", *n - 1)
            }
            _ => "- ".to_owned(),
        });
    }

    /// Begins or ends emphasis or a link.
    fn span(&mut self, kind: &'static str, begins: bool, address: String) {
        if self.is_code || self.is_plain {
            return;
        }
        if begins {
            if self.spans.len() < DEEPEST {
                self.spans.push((kind, self.inline.len(), address));
            }
            return;
        }
        let Some(place) = self.spans.iter().rposition(|(known, ..)| *known == kind) else { return };
        let (_, start, address) = self.spans.remove(place);
        let Some(inner) = self.inline.get(start..).map(str::to_owned) else { return };
        let bare = inner.trim();
        if bare.is_empty() || bare.contains('\n') {
            return;
        }
        self.inline.truncate(start);
        let marked = match kind {
            "a" if is_address(&address) => format!("[{bare}]({address})"),
            "a" => bare.to_owned(),
            mark => format!("{mark}{bare}{mark}"),
        };
        let space = |is_there| if is_there { " " } else { "" };
        self.inline.push_str(space(inner.starts_with(' ')));
        self.inline.push_str(&marked);
        self.inline.push_str(space(inner.ends_with(' ')));
    }

    fn image(&mut self, tag: &Tag) {
        let text = tag.attribute("alt").filter(|text| !text.is_empty());
        let (source, text) =
            (tag.attribute("src").unwrap_or_default(), text.unwrap_or_else(|| "picture".to_owned()));
        self.span("a", true, source);
        self.text(&text);
        self.span("a", false, String::new());
    }

    fn pre(&mut self, begins: bool) {
        if begins {
            self.end_block();
        } else {
            let text = std::mem::take(&mut self.inline);
            let fence = "`".repeat(text.split(|c| c != '`').map(str::len).max().unwrap_or(0).max(2) + 1);
            self.block(&format!("{fence}\n{}\n{fence}", text.trim_matches('\n')));
        }
        self.is_plain = begins;
    }

    fn table(&mut self, begins: bool) {
        if begins {
            self.end_block();
            self.table = Some(Vec::new());
            return;
        }
        let rows: Vec<Vec<String>> = self.table.take().unwrap_or_default();
        let rows: Vec<_> = rows.into_iter().filter(|row| !row.is_empty()).collect();
        let width = rows.iter().map(Vec::len).max().unwrap_or(0);
        let line = |row: &Vec<String>| {
            let cells = (0..row.len().max(width.min(WIDEST))).map(|k| row.get(k).map_or("", String::as_str));
            format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
        };
        let Some((head, body)) = rows.split_first() else { return };
        // Markdown leaves out what is beyond the head of a table.
        let width = head.len().max(width.min(WIDEST));
        let rule = format!("|{}", " --- |".repeat(width));
        let lines: Vec<String> = [line(head), rule].into_iter().chain(body.iter().map(line)).collect();
        self.block(&lines.join("\n"));
    }

    fn cell(&mut self) {
        let text = std::mem::take(&mut self.inline);
        self.spans.clear();
        if let Some(row) = self.table.as_mut().and_then(|rows| rows.last_mut()) {
            row.push(text.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }

    /// Ends the paragraph.
    fn end_block(&mut self) {
        if self.table.is_some() {
            return self.text(" ");
        }
        if std::mem::take(&mut self.is_code) {
            self.inline.push('`');
        }
        self.spans.clear();
        let text = std::mem::take(&mut self.inline);
        let text = text.trim();
        match self.heading {
            _ if text.is_empty() => {}
            0 => self.block(&escaped_start(text)),
            level => self.block(&format!("{} {text}", "#".repeat(level))),
        }
    }

    /// Writes a block behind the marks of what it is in.
    fn block(&mut self, text: &str) {
        let (mut first, mut others) = (String::new(), String::new());
        let shown = &self.containers[..self.containers.len().min(DEEPEST)];
        for (k, container) in shown.iter().enumerate() {
            let is_last = k + 1 == shown.len();
            let mark = match container {
                Container::Quote => "> ",
                Container::List(None) => "  ",
                Container::List(Some(_)) => "   ",
            };
            let marker = self.marker.as_deref().filter(|_| is_last && *mark != *"> ");
            first.push_str(marker.unwrap_or(mark));
            others.push_str(mark);
        }
        let is_item = self.marker.take().is_some();
        if !self.out.is_empty() {
            self.out.push_str(if is_item && self.was_item { "\n" } else { "\n\n" });
        }
        for (k, line) in text.lines().enumerate() {
            self.out.push_str(if k == 0 { "" } else { "\n" });
            let line = format!("{}{line}", if k == 0 { &first } else { &others });
            self.out.push_str(if line.trim().is_empty() { "" } else { &line });
        }
        self.was_item = is_item;
    }
}

fn is_address(address: &str) -> bool {
    let is_web = ["http://", "https://", "mailto:"].iter().any(|start| address.starts_with(start));
    is_web && !address.contains(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '<' | '>'))
}

/// A paragraph that cannot be taken for a heading, a list or a quote.
fn escaped_start(text: &str) -> String {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let at = match text[digits..].chars().next() {
        Some('.' | ')') if digits > 0 => digits,
        Some('#' | '-' | '+' | '>' | '=' | '~') if digits == 0 => 0,
        _ => return text.to_owned(),
    };
    format!("{}\\{}", &text[..at], &text[at..])
}

/// Text of code, in which Markdown has no entities.
fn decoded(text: &str) -> String {
    let named =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&")];
    named.iter().fold(text.to_owned(), |text, (entity, meaning)| text.replace(entity, meaning))
}

#[cfg(test)]
mod tests {
    use capeval_site::web::markdown::as_html;

    use super::as_markdown;

    #[test]
    fn pages_keep_their_structure() {
        for (html, markdown) in [
            (
                "<h1>Rules</h1><p>Two\n  <b> bold </b>words<br>and <i>one</i>.</p>",
                "### Rules\n\nTwo **bold** words  \nand *one*.",
            ),
            ("a<ul><li>one<li>two<ol><li>x</li></ol></ul>b", "a\n\n- one\n- two\n  1. x\n\nb"),
            (
                "<a href='https://a.org/x'>this <em>page</em></a> <a href=\"#top\">top</a>",
                "[this *page*](https://a.org/x) top",
            ),
            (
                "<table><tr><th>a</th><th>b</th></tr><tr><td>1|2</td><td>3<br/>4</td></tr></table>",
                "| a | b |\n| --- | --- |\n| 1\\|2 | 3 4 |",
            ),
            ("<pre>x &lt; `1`\n  y</pre>", "```\nx < `1`\n  y\n```"),
            (
                "use <code>a_b &amp; *c*</code>, a_b _c_ *d* &nbsp;",
                "use `a_b & *c*`, a_b \\_c\\_ \\*d\\* &nbsp;",
            ),
            ("<blockquote><p>q</p></blockquote># no", "> q\n\n\\# no"),
            ("<script>if (a < b) {}</script><style>p{}</style><!-- <p>x</p> -->y", "y"),
            ("<img src=https://a.org/x.png alt=\"A cat\">", "[A cat](https://a.org/x.png)"),
            ("1. no list, 2 < 3 <unknown attr='>'>z", "1\\. no list, 2 \\< 3 z"),
        ] {
            assert_eq!(as_markdown(html), markdown, "{html}");
        }
    }

    #[test]
    fn no_page_grows_without_end() {
        let many = |part: &str| part.repeat(20_000);
        for html in [
            many("<blockquote>a"),
            many("<ul><li>a"),
            format!("<table><tr>{}{}</table>", many("</td>"), many("<tr></td>")),
            many("<b>a") + &many("</i>") + &many("</b>"),
            many("<") + ">",
        ] {
            let markdown = as_markdown(&html);
            assert!(markdown.len() < 40 * html.len(), "{}…: {}", &html[..20], markdown.len());
        }
    }

    #[test]
    fn no_page_becomes_a_script() {
        for html in [
            "<a href='javascript:alert(1)'>x</a>",
            "<p onclick=alert(1)>x</p>",
            "&lt;script&gt;alert(1)&lt;/script&gt;",
            "<<script>script>alert(1)</script>",
            "<a href=\"https://a.org/)<script>\">x</a>",
        ] {
            let shown = as_html(&as_markdown(html)).to_lowercase();
            assert!(!shown.contains("<script") && !shown.contains("href=\"javascript"), "{html}: {shown}");
        }
    }
}
