//! The table of formats.

capeval_choice::named! {
    /// A kind of caption file.
    pub enum Format ("format") {
        CocoAnnotations = "coco", "COCO annotations: {\"images\": [...], \"annotations\": [{\"image_id\", \"caption\"}]}";
        CocoResults = "coco-results", "COCO results: [{\"image_id\", \"caption\"}], one per image";
        Karpathy = "karpathy", "Karpathy's dataset_*.json: images with sentences and a split";
        ListJson = "list-json", "list of {\"image_id\", \"caption\"}, many per image, as in PASCAL-50S";
        DictJson = "dict-json", "{id: caption} or {id: [captions]}";
        JsonLines = "jsonl", "JSON Lines: an object with an id and captions on each line";
        Csv = "csv", "comma-separated values with a header, such as Clotho's caption_1 to caption_5";
        Tsv = "tsv", "tab-separated values with a header";
        Pipes = "pipes", "values with a header, separated by | as in Flickr30k's results.csv";
        Tokens = "flickr", "Flickr8k and Flickr30k token files: image.jpg#0, a tab, a caption";
        Lines = "lines", "plain text, one caption per line; line-aligned files are merged";
        Parquet = "parquet", "Parquet: one row per caption, or a column of lists";
    }
}
