//! The advice on tokenizers over the 36 languages of Crossmodal-3600: what is advised gives a sane score.

use capeval::choice::{Argument, Code};
use capeval::corpus::Captions;
use capeval::report::{Notice, Report};
use capeval::{MetricOptions, ScoreOptions, ScoreRequest};

/// A reference and a candidate in each language, of our own writing: "a black dog runs on the beach", and "a dog
/// runs on the wet sand", or the like.
const LANGUAGES: &[(&str, &str, &str)] = &[
    ("ar", "كلب أسود يركض على الشاطئ", "كلب يركض على الرمال"),
    ("bn", "একটি কালো কুকুর সৈকতে দৌড়াচ্ছে", "একটি কুকুর বালির উপর দৌড়াচ্ছে"),
    ("cs", "černý pes běží po pláži", "pes běží po mokrém písku"),
    ("da", "en sort hund løber på stranden", "en hund løber på sandet"),
    ("de", "ein schwarzer Hund läuft über den Strand", "ein Hund läuft über den nassen Sand"),
    ("el", "ένας μαύρος σκύλος τρέχει στην παραλία", "ένας σκύλος τρέχει στην άμμο"),
    ("en", "a black dog runs on the beach", "a dog runs on the wet sand"),
    ("es", "un perro negro corre por la playa", "un perro corre por la arena húmeda"),
    ("fa", "یک سگ سیاه در ساحل می‌دود", "یک سگ روی شن می‌دود"),
    ("fi", "musta koira juoksee rannalla", "koira juoksee märällä hiekalla"),
    ("fil", "isang itim na aso ang tumatakbo sa dalampasigan", "isang aso ang tumatakbo sa buhangin"),
    ("fr", "un chien noir court sur la plage", "un chien court sur le sable mouillé"),
    ("he", "כלב שחור רץ על החוף", "כלב רץ על החול"),
    ("hi", "एक काला कुत्ता समुद्र तट पर दौड़ रहा है", "एक कुत्ता रेत पर दौड़ रहा है"),
    ("hr", "crni pas trči po plaži", "pas trči po mokrom pijesku"),
    ("hu", "egy fekete kutya fut a strandon", "egy kutya fut a nedves homokon"),
    ("id", "seekor anjing hitam berlari di pantai", "seekor anjing berlari di pasir"),
    ("it", "un cane nero corre sulla spiaggia", "un cane corre sulla sabbia bagnata"),
    ("ja", "黒い犬が砂浜を走っている", "犬が濡れた砂の上を走っている"),
    ("ko", "검은 개가 해변에서 달리고 있다", "개가 모래 위에서 달리고 있다"),
    ("mi", "he kurī pango e oma ana i te tāhuna", "he kurī e oma ana i te onepū"),
    ("nl", "een zwarte hond rent over het strand", "een hond rent over het natte zand"),
    ("no", "en svart hund løper på stranden", "en hund løper på sanden"),
    ("pl", "czarny pies biegnie po plaży", "pies biegnie po mokrym piasku"),
    ("pt", "um cão preto corre na praia", "um cão corre na areia molhada"),
    ("quz", "huk yana alqo qocha patapi phawachkan", "huk alqo aqo patapi phawachkan"),
    ("ro", "un câine negru aleargă pe plajă", "un câine aleargă pe nisipul ud"),
    ("ru", "чёрная собака бежит по пляжу", "собака бежит по мокрому песку"),
    ("sv", "en svart hund springer på stranden", "en hund springer på sanden"),
    ("sw", "mbwa mweusi anakimbia ufukweni", "mbwa anakimbia kwenye mchanga"),
    ("te", "ఒక నల్ల కుక్క బీచ్‌లో పరుగెత్తుతోంది", "ఒక కుక్క ఇసుకపై పరుగెత్తుతోంది"),
    ("th", "สุนัขสีดำวิ่งอยู่บนชายหาด", "สุนัขวิ่งอยู่บนทรายเปียก"),
    ("tr", "siyah bir köpek sahilde koşuyor", "bir köpek ıslak kumda koşuyor"),
    ("uk", "чорний собака біжить по пляжу", "собака біжить по мокрому піску"),
    ("vi", "một con chó đen chạy trên bãi biển", "một con chó chạy trên cát ướt"),
    ("zh", "一只黑色的狗在海滩上奔跑", "一只狗在湿沙子上奔跑"),
    ("lo", "ໝາສີດຳແລ່ນຢູ່ຫາດຊາຍ", "ໝາແລ່ນຢູ່ດິນຊາຍ"),
    ("km", "ឆ្កែខ្មៅរត់នៅលើឆ្នេរ", "ឆ្កែរត់នៅលើខ្សាច់"),
    ("my", "ခွေးနက်တစ်ကောင်ကမ်းခြေမှာပြေးနေတယ်", "ခွေးတစ်ကောင်သဲပေါ်မှာပြေးနေတယ်"),
];

/// Scores three captions of a language.
fn score(reference: &str, candidate: &str, metrics: &[&str], tokenizer: Option<&str>) -> Report {
    let (mut references, mut candidates) = (Captions::new("references"), Captions::new("mine"));
    for image in 0..3 {
        references.push(image.into(), reference);
        candidates.push(image.into(), candidate);
    }
    let metrics = MetricOptions {
        tokenizer: tokenizer.map(str::to_owned),
        ..MetricOptions::new(metrics.iter().copied())
    };
    let options = ScoreOptions { metrics, ..ScoreOptions::default() };
    capeval::score(ScoreRequest { options, ..ScoreRequest::new(references, [("mine", candidates)]) }).unwrap()
}

/// The notices about tokenizers.
fn about_tokenizers(report: &Report) -> Vec<&Notice> {
    use Code::{BeyondAscii, NotEnglish, OnlyAscii, Untokenised};
    let codes = [NotEnglish, BeyondAscii, OnlyAscii, Untokenised];
    report.head.notices.iter().filter(|notice| codes.iter().any(|code| notice.code == *code)).collect()
}

/// The tokenizers that a notice advises.
fn advised(notice: &Notice) -> Vec<String> {
    let remedy = notice.remedy.as_ref().map(ToString::to_string).unwrap_or_default();
    let set = format!("{} to \"", Argument::Tokenizer.name());
    remedy.split(&set).skip(1).filter_map(|rest| Some(rest.split('"').next()?.to_owned())).collect()
}

#[test]
fn the_tokenizer_that_is_advised_gives_a_sane_score() {
    for (language, reference, candidate) in LANGUAGES {
        let first = score(reference, candidate, &["bleu"], None);
        let names: Vec<String> = about_tokenizers(&first).into_iter().flat_map(advised).collect();
        let tried: Vec<Option<&str>> = match &names[..] {
            [] => vec![None],
            names => names.iter().map(|name| Some(name.as_str())).collect(),
        };
        for tokenizer in tried {
            let report = score(reference, candidate, &["bleu"], tokenizer);
            let bleu = report.systems[0].scores[0];
            assert!(bleu > 0.0 && bleu < 1.0, "{language} {tokenizer:?}: {bleu}");
            assert_eq!(about_tokenizers(&report), Vec::<&Notice>::new(), "{language} {tokenizer:?}");
        }
    }
}

#[test]
fn scripts_without_spaces_are_told_whatever_does_not_split_them() {
    for language in ["th", "lo", "km", "my", "zh", "ja"] {
        let (_, reference, candidate) = LANGUAGES.iter().find(|(code, ..)| *code == language).unwrap();
        for tokenizer in ["ptb", "intl", "13a", "none", "whitespace"] {
            let report = score(reference, candidate, &["bleu"], Some(tokenizer));
            let told = about_tokenizers(&report);
            assert_eq!(told.len(), 1, "{language} {tokenizer}: {told:?}");
            assert!(advised(told[0]).contains(&"char".to_owned()), "{language} {tokenizer}: {told:?}");
        }
        let report = score(reference, candidate, &["rouge-score"], None);
        let told = about_tokenizers(&report);
        assert_eq!(told.len(), 1, "{language}: one advice, and no other that contradicts it: {told:?}");
        assert_eq!(report.head.notices.iter().filter(|notice| notice.message.contains("tok=zh")).count(), 0);
    }
}

#[test]
fn no_tokenizer_is_advised_that_this_program_lacks() {
    for (language, reference, candidate) in LANGUAGES {
        for tokenizer in ["ptb", "intl", "13a", "none"] {
            let report = score(reference, candidate, &["bleu", "rouge-score"], Some(tokenizer));
            for name in about_tokenizers(&report).into_iter().flat_map(advised) {
                assert!(name.parse::<capeval::text::Tokenizer>().is_ok(), "{language}: {name}");
            }
        }
    }
}
