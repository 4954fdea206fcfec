//! Checks the borders of the server's crates: no statement names a table of a crate above, modules of the base import
//! one way, and files with routes hold no SQL. What each crate may import is in the table of ARCHITECTURE.md.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// The crates of the server, each of which may use the tables of those before it.
const CRATES: [&str; 4] = ["crates/site", "crates/benchmarks", "crates/collections", "crates/server"];

/// The crate whose modules have an order.
const BASE: &str = "crates/site";

/// The start of the paragraph of ARCHITECTURE.md that lists modules of the base in the order in which they import.
const ORDER: &str = "**Modules of the base import one way.**";

/// The first words of statements.
const STATEMENTS: [&str; 8] =
    ["\"SELECT ", "\"INSERT ", "\"UPDATE ", "\"DELETE ", "\"WITH ", ".add_row(", ".change_row(", ".put_row("];

/// The words before the name of a table.
const BEFORE_TABLES: [&str; 8] =
    ["FROM", "JOIN", "INTO", "UPDATE", "add_row", "insert_row", "change_row", "put_row"];

/// Adds what breaks a rule to `faults`.
pub fn check(root: &Path, map: &str, faults: &mut Vec<String>) -> Result<()> {
    let order = order(map)?;
    let tables = CRATES.iter().map(|krate| tables(&root.join(krate).join("migrations")));
    let tables = tables.collect::<Result<Vec<_>>>()?;
    for (place, krate) in CRATES.iter().enumerate() {
        let folder = root.join(krate).join("src");
        let above: Vec<&String> = tables[place + 1..].iter().flatten().collect();
        let mut files = Vec::new();
        collect(&folder, &mut files)?;
        for path in files {
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            let code = code(&text);
            let name = path.strip_prefix(&folder)?.to_string_lossy().replace('\\', "/");
            let shown = format!("{krate}/src/{name}");
            if has_routes(&code) && has_sql(&code) {
                faults.push(format!("{shown} has routes and SQL: move the SQL to a file of queries"));
            }
            for table in named_tables(&code).filter(|table| above.iter().any(|other| other == table)) {
                faults.push(format!("{shown} names {table}, a table of a crate that uses this one"));
            }
            let later = if *krate == BASE { later_modules(&name, &code, &order) } else { Vec::new() };
            for module in later {
                faults.push(format!("{shown} imports {module}, which comes later in ARCHITECTURE.md"));
            }
        }
    }
    Ok(())
}

/// The tables that the scripts in a folder make; none if there is no such folder.
fn tables(folder: &Path) -> Result<Vec<String>> {
    let mut tables = Vec::new();
    if folder.exists() {
        for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            let script = fs::read_to_string(entry?.path())?;
            let made = script.lines().filter_map(|line| line.strip_prefix("CREATE TABLE "));
            tables.extend(made.filter_map(|rest| rest.split_whitespace().next()).map(str::to_owned));
        }
    }
    Ok(tables)
}

/// The names that stand in statements where tables do.
fn named_tables(code: &str) -> impl Iterator<Item = &str> {
    let mut words = code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let mut before = words.next().unwrap_or_default();
    words.filter(move |word| BEFORE_TABLES.contains(&std::mem::replace(&mut before, *word)))
}

/// The modules in the order in which they import: the first list after a colon.
fn order(map: &str) -> Result<Vec<String>> {
    let start = map.find(ORDER).with_context(|| format!("ARCHITECTURE.md: no paragraph {ORDER}"))?;
    let paragraph: Vec<&str> =
        map[start..].split("\n\n").next().unwrap_or_default().split_whitespace().collect();
    let paragraph = paragraph.join(" ");
    let list = paragraph.split_once(": ").and_then(|(_, list)| list.split(". ").next()).unwrap_or_default();
    let order: Vec<String> = list.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    ensure!(!order.is_empty(), "ARCHITECTURE.md: {ORDER} lists no modules");
    Ok(order)
}

/// Adds the source files below a folder, sorted.
pub fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(())
}

/// A source file without its comments and its tests.
pub fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).flat_map(|line| [line, "\n"]).collect()
}

fn has_routes(code: &str) -> bool {
    code.contains("fn routes()")
}

fn has_sql(code: &str) -> bool {
    STATEMENTS.iter().any(|statement| code.contains(statement))
}

/// The modules that a file imports although they come after its own.
fn later_modules(name: &str, code: &str, order: &[String]) -> Vec<String> {
    let own = name.split('/').next().unwrap_or_default().trim_end_matches(".rs");
    let place = |module: &str| order.iter().position(|known| known == module);
    let Some(own) = place(own) else { return Vec::new() };
    let mut later: Vec<String> =
        imports(code).into_iter().filter(|module| place(module).is_some_and(|place| place > own)).collect();
    later.sort();
    later.dedup();
    later
}

/// The modules of the crate that code names, but for `app` where it is only the type `App`, which all share.
fn imports(code: &str) -> Vec<String> {
    let mut imports = Vec::new();
    for (start, found) in code.match_indices("crate::") {
        let path = &code[start + found.len()..];
        let paths = match path.strip_prefix('{') {
            Some(group) => members(group),
            None => vec![path],
        };
        for path in paths {
            let (first, rest) = identifier(path);
            let is_app =
                first == "app" && rest.strip_prefix("::").is_some_and(|rest| identifier(rest).0 == "App");
            if !is_app {
                imports.push(first.to_owned());
            }
        }
    }
    imports
}

/// The members of a group in braces, from after the first brace.
fn members(group: &str) -> Vec<&str> {
    let (mut members, mut depth, mut start) = (Vec::new(), 0, 0);
    for (k, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                members.push(group[start..k].trim());
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                members.push(group[start..k].trim());
                start = k + 1;
            }
            _ => {}
        }
    }
    members
}

fn identifier(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: &str = "**Modules of the base import one way.** Each may import those before it:\n`store`, `web`,\n\
                       `benchmarks`, `app`. All may use `App`.\n\n`other`: `x`.";

    #[test]
    fn the_order_is_the_list_of_its_paragraph() {
        assert_eq!(order(MAP).unwrap(), ["store", "web", "benchmarks", "app"]);
        assert!(order("# Map").is_err() && order(ORDER).is_err());
    }

    #[test]
    fn imports_of_later_modules_are_found() {
        let order = order(MAP).unwrap();
        let of = |name: &str, text: &str| later_modules(name, &code(text), &order).join(" ");
        assert_eq!(of("web/page.rs", "use crate::benchmarks::records;"), "benchmarks");
        assert_eq!(of("web.rs", "use crate::{args, benchmarks::{a, b}, app};"), "app benchmarks");
        assert_eq!(of("store/mod.rs", "let x = $crate::web::encode(y);"), "web");
        assert_eq!(of("benchmarks/mod.rs", "crate::app::routes()"), "app");
        assert_eq!(of("benchmarks/mod.rs", "use crate::app::App;\nuse crate::{web, store};"), "");
        assert_eq!(of("web/page.rs", "// crate::benchmarks\n#[cfg(test)]\nmod tests {\ncrate::app::f }"), "");
        assert_eq!(of("clock.rs", "use crate::benchmarks;"), "");
    }

    #[test]
    fn tables_are_found_in_statements() {
        let sql = "let sql = \"SELECT 1 FROM phase \\\n JOIN account ON x\"; // FROM team\n\"INSERT INTO job (id)\"";
        assert_eq!(named_tables(&code(sql)).collect::<Vec<_>>(), ["phase", "account", "team", "job"]);
        assert_eq!(named_tables("use store::Update; from phase").count(), 0);
    }

    #[test]
    fn sql_beside_routes_is_found() {
        let routes = "fn routes() -> Vec<Route> { vec![] }\n";
        assert!(has_routes(&code(routes)));
        for sql in ["\"SELECT 1\"", "(\"UPDATE x SET y = 1\")", "\"DELETE FROM x\""] {
            assert!(has_sql(&code(sql)), "{sql}");
        }
        for other in ["\"Update a benchmark\"", "// \"SELECT 1\"", "\"Select one\""] {
            assert!(!has_sql(&code(other)), "{other}");
        }
    }
}
