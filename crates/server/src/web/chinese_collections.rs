//! The sentences of accounts and collections in Chinese that are newer than the first table.

/// English and Chinese.
#[rustfmt::skip]
pub(super) const COLLECTIONS: &[(&str, &str)] = &[
    ("Delete the account", "注销账号"),
    ("Others have completed the picture meanwhile.", "其间其他人已完成了这张图片。"),
    ("Pass the quiz on the page of instructions first.", "请先在说明页面通过小测验。"),
    ("The caption is refused: {}", "描述未被接受：{}"),
    ("The password is not right.", "密码不正确。"),
    ("The picture was taken away meanwhile.", "这张图片其间已被撤下。"),
    ("You are the only administrator. Make somebody else one first.", "您是唯一的管理员，请先指定其他管理员。"),
    ("You have described this picture before.", "您已描述过这张图片。"),
    ("You rate only the caption that you were given last.", "您只能为最近分配给您的描述评分。"),
    ("Your account is deleted.", "您的账号已注销。"),
    ("Your pictures, captions, ratings and drafts go, nobody can sign in to the account any more, and nothing names you. Results that your teams handed in stay on their boards. This cannot be undone.", "您的图片、描述、评分和草稿将被删除，账号无法再登录，站内也不再出现您的名字。您的团队提交的结果仍保留在榜单上。此操作无法撤销。"),
];
