//! bert_score's tables of models by name: the layer that it compares, and baselines for rescaling.
//!
//! Source: `model2layers` in `bert_score/utils.py` and the tables in `bert_score/rescale_baseline` of bert_score
//! 0.3.13.

use capeval_choice::Refusal;

use crate::embeddings::models::OpenModel;

/// The values that unrelated captions have on average.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Baseline {
    pub p: f64,
    pub r: f64,
    pub f: f64,
    /// Its name in signatures.
    pub name: String,
    /// True if it is one of bert_score's.
    pub is_known: bool,
}

/// The layers that bert_score compares, for models of families that are read here.
const LAYERS: &[(&str, usize)] = &[
    ("bert-base-uncased", 9),
    ("bert-large-uncased", 18),
    ("bert-base-cased-finetuned-mrpc", 9),
    ("bert-base-multilingual-cased", 9),
    ("bert-base-chinese", 8),
    ("roberta-base", 10),
    ("roberta-large", 17),
    ("roberta-large-mnli", 19),
    ("roberta-base-openai-detector", 7),
    ("roberta-large-openai-detector", 15),
    ("scibert_scivocab_uncased", 8),
    ("scibert_scivocab_cased", 9),
    ("scibert_basevocab_uncased", 9),
    ("distilroberta-base", 5),
    ("distilbert-base-uncased", 5),
    ("distilbert-base-uncased-distilled-squad", 4),
    ("distilbert-base-multilingual-cased", 5),
    ("bert_uncased_L-2_H-128_A-2", 1),
    ("bert_uncased_L-2_H-256_A-4", 1),
    ("bert_uncased_L-2_H-512_A-8", 1),
    ("bert_uncased_L-2_H-768_A-12", 2),
    ("bert_uncased_L-4_H-128_A-2", 3),
    ("bert_uncased_L-4_H-256_A-4", 3),
    ("bert_uncased_L-4_H-512_A-8", 3),
    ("bert_uncased_L-4_H-768_A-12", 3),
    ("bert_uncased_L-6_H-128_A-2", 5),
    ("bert_uncased_L-6_H-256_A-4", 5),
    ("bert_uncased_L-6_H-512_A-8", 5),
    ("bert_uncased_L-6_H-768_A-12", 5),
    ("bert_uncased_L-8_H-128_A-2", 7),
    ("bert_uncased_L-8_H-256_A-4", 7),
    ("bert_uncased_L-8_H-512_A-8", 6),
    ("bert_uncased_L-8_H-768_A-12", 7),
    ("bert_uncased_L-10_H-128_A-2", 8),
    ("bert_uncased_L-10_H-256_A-4", 8),
    ("bert_uncased_L-10_H-512_A-8", 9),
    ("bert_uncased_L-10_H-768_A-12", 8),
    ("bert_uncased_L-12_H-128_A-2", 10),
    ("bert_uncased_L-12_H-256_A-4", 11),
    ("bert_uncased_L-12_H-512_A-8", 10),
    ("bert_uncased_L-12_H-768_A-12", 9),
    ("mpnet-base", 8),
    ("spanbert-base-cased", 8),
    ("spanbert-large-cased", 17),
    ("finbert", 10),
    ("unsup-simcse-bert-base-uncased", 10),
    ("unsup-simcse-bert-large-uncased", 18),
    ("unsup-simcse-roberta-base", 8),
    ("unsup-simcse-roberta-large", 13),
    ("sup-simcse-bert-base-uncased", 10),
    ("sup-simcse-bert-large-uncased", 18),
    ("sup-simcse-roberta-base", 10),
    ("sup-simcse-roberta-large", 16),
    ("bert-base-turkish-cased", 10),
    ("distilbert-base-turkish-cased", 4),
];

/// The baselines of these layers, by language and model: P, R and F.
const BASELINES: &[(&str, &str, [f64; 3])] = &[
    ("en", "roberta-large", [0.831_505_84, 0.831_494_1, 0.831_225_75]),
    ("en", "roberta-base", [0.814_672_5, 0.814_661_9, 0.814_463]),
    ("en", "roberta-large-mnli", [0.690_159_4, 0.690_18, 0.689_628_8]),
    ("en", "distilroberta-base", [0.847_32, 0.847_595_04, 0.847_331_9]),
    ("en", "bert-base-uncased", [0.353_759_35, 0.353_739_3, 0.352_191_12]),
    ("en", "bert-large-uncased", [0.427_857_6, 0.427_867_14, 0.426_466_73]),
    ("en", "distilbert-base-uncased", [0.666_603_4, 0.666_604_64, 0.666_204_87]),
    ("en", "distilbert-base-uncased-distilled-squad", [0.659_186_1, 0.659_191_37, 0.658_821_34]),
    ("en", "distilbert-base-multilingual-cased", [0.816_415_7, 0.816_457_57, 0.816_231_97]),
    ("en", "bert-base-cased-finetuned-mrpc", [0.553_451_84, 0.553_420_07, 0.552_551_9]),
    ("en", "bert-base-multilingual-cased", [0.632_052_7, 0.632_001_9, 0.631_468_95]),
    ("cs", "bert-base-multilingual-cased", [0.604_453_9, 0.604_538_2, 0.604_006]),
    ("de", "bert-base-multilingual-cased", [0.615_328_13, 0.615_282_24, 0.614_735_3]),
    ("es", "bert-base-multilingual-cased", [0.634_744_94, 0.634_697_8, 0.634_252_9]),
    ("et", "bert-base-multilingual-cased", [0.611_136_26, 0.611_176_7, 0.610_660_5]),
    ("fi", "bert-base-multilingual-cased", [0.611_242_4, 0.611_190_9, 0.610_736_9]),
    ("fr", "bert-base-multilingual-cased", [0.625_731_17, 0.625_736_53, 0.625_249_9]),
    ("it", "bert-base-multilingual-cased", [0.620_519_94, 0.620_560_7, 0.620_062_23]),
    ("lv", "bert-base-multilingual-cased", [0.614_898_26, 0.614_937_5, 0.614_489]),
    ("pt", "bert-base-multilingual-cased", [0.631_467_7, 0.631_483_7, 0.630_997_06]),
    ("zh", "bert-base-multilingual-cased", [0.628_403_84, 0.628_334_64, 0.628_034_53]),
    ("zh", "bert-base-chinese", [0.548_049_57, 0.548_009_1, 0.547_557_83]),
    ("en-sci", "scibert_scivocab_uncased", [0.533_594_5, 0.533_634_1, 0.532_236_4]),
];

/// A model's name without that of its owner, in lower case but for what the tables write in capitals.
fn plain(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

/// The layer that bert_score compares, for a model of one of these names.
pub(crate) fn usual_layer<'n>(names: impl IntoIterator<Item = &'n str>) -> Option<usize> {
    let known = |name: &str| LAYERS.iter().find(|(known, _)| known.eq_ignore_ascii_case(plain(name)));
    names.into_iter().find_map(known).map(|(_, layer)| *layer)
}

/// bert_score's baseline for a model, a layer and a language.
pub(crate) fn known(model: &OpenModel, layer: usize, language: &str) -> Result<Baseline, Refusal> {
    let is_usual = model.usual_layer() == Some(layer);
    let of_model = |name: &str| {
        let is_meant = |(lang, known, _): &&(&str, &str, [f64; 3])| {
            *lang == language && known.eq_ignore_ascii_case(plain(name))
        };
        BASELINES.iter().find(is_meant)
    };
    match model.names().find_map(of_model).filter(|_| is_usual) {
        Some((_, known, [p, r, f])) => {
            Ok(Baseline { p: *p, r: *r, f: *f, name: format!("{language}/{known}"), is_known: true })
        }
        None => Err(Refusal::new(format!(
            "no baseline of layer {layer} of {} is known for the language {language}",
            model.name()
        ))
        .with_remedy("give the path of its table, a file of bert_score/rescale_baseline, in place of yes")),
    }
}

/// The baseline of a layer in a table of bert_score: comma-separated, with the header `LAYER,P,R,F`.
pub(crate) fn read(path: &str, layer: usize) -> Result<Baseline, Refusal> {
    let bytes = capeval_files::read(path).map_err(|error| Refusal::new(error.to_string()))?;
    parse(&bytes, layer)
        .map(|[p, r, f]| Baseline { p, r, f, name: named(&bytes), is_known: false })
        .map_err(|refusal| refusal.at(path))
}

/// The name of a table in signatures.
fn named(bytes: &[u8]) -> String {
    format!("custom-{}", crate::embeddings::hash::short(&crate::embeddings::hash::of(bytes)))
}

fn parse(bytes: &[u8], layer: usize) -> Result<[f64; 3], Refusal> {
    let text = String::from_utf8_lossy(bytes);
    let wanted =
        || Refusal::new("this is no table of baselines").with_remedy("begin it with the line LAYER,P,R,F");
    let mut lines = text.lines();
    if lines.next().map(str::trim) != Some("LAYER,P,R,F") {
        return Err(wanted());
    }
    for (number, line) in lines.enumerate() {
        let cells: Option<Vec<f64>> = line.trim().split(',').map(|cell| cell.parse().ok()).collect();
        let Some([at, p, r, f]) = cells.and_then(|cells| <[f64; 4]>::try_from(cells).ok()) else {
            let message = format!("line {}: {line:?} is no layer with P, R and F", number + 2);
            return Err(Refusal::new(message).with_remedy("write four numbers, such as 17,0.83,0.83,0.83"));
        };
        if at == layer as f64 {
            return match [p, r, f].iter().all(|b| *b < 1.0) {
                true => Ok([p, r, f]),
                false => Err(Refusal::new(format!("line {}: a baseline is below 1", number + 2))
                    .with_remedy("compute it again")),
            };
        }
    }
    Err(Refusal::new(format!("it has no layer {layer}")).with_remedy("set the layer that it has"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_known_by_names_with_and_without_an_owner() {
        assert_eq!(usual_layer(["FacebookAI/roberta-large"]), Some(17));
        assert_eq!(usual_layer(["/models/my-model", "google/bert_uncased_L-2_H-128_A-2"]), Some(1));
        assert_eq!(usual_layer(["my-model"]), None);
    }

    #[test]
    fn every_baseline_is_of_a_model_whose_layer_is_known() {
        for (_, model, baseline) in BASELINES {
            assert!(
                usual_layer([*model]).is_some() && baseline.iter().all(|b| (0.0..1.0).contains(b)),
                "{model}"
            );
        }
    }

    #[test]
    fn tables_are_read_and_refused_in_words() {
        let table = b"LAYER,P,R,F\n0,0.3,0.3,0.2\n1,0.4,0.5,0.6\n";
        assert_eq!(parse(table, 1).unwrap(), [0.4, 0.5, 0.6]);
        let why = |bytes: &[u8]| parse(bytes, 2).unwrap_err().to_string();
        assert_eq!(why(table), "it has no layer 2");
        assert_eq!(why(b"P,R,F\n"), "this is no table of baselines");
        assert_eq!(why(b"LAYER,P,R,F\n2,x,1,2\n"), "line 2: \"2,x,1,2\" is no layer with P, R and F");
        assert_eq!(why(b"LAYER,P,R,F\n2,0.5,1,0.5\n"), "line 2: a baseline is below 1");
    }
}
