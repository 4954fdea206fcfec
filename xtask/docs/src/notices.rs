//! The page about notices: what each code means, and what to do about it.

use std::fmt::Write as _;

use anyhow::Result;
use capeval::choice::Code;

/// The page.
pub fn page() -> Result<String> {
    let mut page = String::from(
        "# Notices\n\n`cargo xtask docs` writes this page. A notice says what a reader of a score should know. It stands below \
         tables, on pages, and in JSON, where `code` names its kind for programs; in Python, `report.notices` has them. Nothing \
         is left out of a score without one.\n\n## Choices\n\nWhere a flag chose what happens, the code is the argument and its value, \
         such as `missing:skip`, `surplus:ignore`, `duplicate:first`, `empty:keep` or `own-reference:remove`, and the number of \
         captions concerned stands beside it. The [signature](signatures.md) has it, too.\n\n## Metrics that are left out\n\nWhere \
         one name asks for several metrics, such as `--suite coco` or `capeval diversity`, the code of a notice about a metric that is \
         left out is `no-` and its name, such as `no-meteor`. The notice says what the metric lacks.\n\n## Kinds\n\n| code | \
         says | what to do |\n|---|---|---|\n",
    );
    for code in Code::ALL {
        writeln!(page, "| `{code}` | {} | {} |", code.summary(), code.advice())?;
    }
    page.push_str("\nErrors are [elsewhere](errors.md): they end a run, and no score is printed.\n");
    Ok(page)
}
