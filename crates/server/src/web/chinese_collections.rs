//! The sentences of accounts and collections in Chinese that are newer than the first table.

/// English and Chinese.
#[rustfmt::skip]
pub(super) const COLLECTIONS: &[(&str, &str)] = &[
    ("Others have completed the picture meanwhile.", "其间其他人已完成了这张图片。"),
    ("Pass the quiz on the page of instructions first.", "请先在说明页面通过小测验。"),
    ("The caption is refused: {}", "描述未被接受：{}"),
    ("The picture was taken away meanwhile.", "这张图片其间已被撤下。"),
    ("You have described this picture before.", "您已描述过这张图片。"),
    ("You rate only the caption that you were given last.", "您只能为最近分配给您的描述评分。"),
];
