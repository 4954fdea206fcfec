//! Captions of pictures that do not exist, in English and Chinese, as several people and better or worse methods might
//! write them.

use serde_json::{Value, json};

/// A thing in the words of three people.
type Words = [&'static str; 3];

/// The parts of a scene (who, what, where), as numbers of rows in the tables of a language.
struct Tables {
    who: [Words; 10],
    doing: [Words; 8],
    place: [Words; 9],
    look: [Words; 5],
}

/// The language of captions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tongue {
    English,
    Chinese,
}

const ENGLISH: Tables = Tables {
    who: [
        ["dog", "puppy", "brown dog"],
        ["man", "man in a coat", "gentleman"],
        ["woman", "lady", "young woman"],
        ["cat", "kitten", "tabby cat"],
        ["child", "boy", "little kid"],
        ["horse", "pony", "brown horse"],
        ["cyclist", "rider", "person with a bicycle"],
        ["seagull", "gull", "white bird"],
        ["old man", "elderly man", "man with a beard"],
        ["girl", "schoolgirl", "girl in a red dress"],
    ],
    doing: [
        ["running", "racing along", "sprinting"],
        ["resting", "taking a rest", "having a break"],
        ["waiting", "standing still", "standing quietly"],
        ["jumping", "leaping into the air", "hopping"],
        ["eating", "having a snack", "nibbling at something"],
        ["looking at the camera", "facing the camera", "staring into the lens"],
        ["walking slowly", "strolling", "taking a walk"],
        ["playing with a ball", "chasing a ball", "running after a ball"],
    ],
    place: [
        ["on the beach", "at the seaside", "on the sand"],
        ["in the park", "in a green park", "on the lawn"],
        ["near a red bus", "beside a red bus", "next to a bus"],
        ["in a kitchen", "inside a bright kitchen", "by the stove"],
        ["beside a wooden bench", "by a bench", "near an old bench"],
        ["in the snow", "on a snowy hill", "in deep snow"],
        ["under a tree", "below a tall tree", "in the shade of a tree"],
        ["on a busy street", "on a city street", "by the side of a road"],
        ["beside a lake", "near the water", "at the edge of a lake"],
    ],
    look: [
        ["small", "little", "tiny"],
        ["cheerful", "happy", "smiling"],
        ["wet", "soaked", "dripping"],
        ["tired", "sleepy", "weary"],
        ["lonely", "solitary", "single"],
    ],
};

const CHINESE: Tables = Tables {
    who: [
        ["一只狗", "一只小狗", "一只棕色的狗"],
        ["一名男子", "一个穿外套的男人", "一位先生"],
        ["一名女子", "一位女士", "一位年轻女子"],
        ["一只猫", "一只小猫", "一只花猫"],
        ["一个孩子", "一个男孩", "一个小朋友"],
        ["一匹马", "一匹小马", "一匹棕色的马"],
        ["一名骑车人", "一个骑自行车的人", "一位骑手"],
        ["一只海鸥", "一只白色的鸟", "一只水鸟"],
        ["一位老人", "一位老先生", "一个留胡子的男人"],
        ["一个女孩", "一名女学生", "一个穿红裙子的女孩"],
    ],
    doing: [
        ["奔跑", "飞快地跑", "向前冲"],
        ["休息", "歇脚", "稍作休息"],
        ["等待", "静静地站着", "站着不动"],
        ["跳跃", "高高跳起", "蹦跳"],
        ["吃东西", "吃点心", "品尝食物"],
        ["看着镜头", "面对镜头", "望向镜头"],
        ["散步", "慢慢走", "悠闲地走着"],
        ["玩球", "追一个球", "追着球跑"],
    ],
    place: [
        ["海滩上", "海边", "沙滩上"],
        ["公园里", "绿色的公园里", "草坪上"],
        ["红色公交车旁", "一辆公交车旁边", "公交车边上"],
        ["厨房里", "明亮的厨房里", "灶台旁"],
        ["木长椅旁", "长椅旁边", "一张旧长椅旁"],
        ["雪地里", "积雪的山坡上", "厚厚的雪中"],
        ["树下", "一棵大树下", "树荫里"],
        ["热闹的街道上", "城市的街头", "马路边"],
        ["湖边", "水边", "湖岸上"],
    ],
    look: [
        ["天气晴朗", "阳光很好", "天空很蓝"],
        ["心情愉快", "看上去很开心", "面带笑意"],
        ["浑身湿透", "身上湿漉漉的", "全身是水"],
        ["显得疲倦", "看起来很累", "有些困倦"],
        ["四周无人", "周围没有别人", "独自一个"],
    ],
};

/// A sentence of the picture with this number; `k` is who writes it.
fn sentence(tongue: Tongue, image: usize, k: usize) -> String {
    let tables = if tongue == Tongue::English { &ENGLISH } else { &CHINESE };
    let pick = |words: &Words, shift: usize| words[(k / shift + k) % 3];
    let who = pick(&tables.who[image % 10], 2);
    let doing = pick(&tables.doing[(image / 3 + image) % 8], 3);
    let place = pick(&tables.place[(image * 5 + 2) % 9], 5);
    let look = pick(&tables.look[(image * 7 + 1) % 5], 7);
    match (tongue, k % 5) {
        (Tongue::English, 0) => format!("A {look} {who} is {doing} {place}."),
        (Tongue::English, 1) => format!("{} is {doing} {place}.", capital(&an(who))),
        (Tongue::English, 2) => format!("There is {} {place}, {doing}.", an(who)),
        (Tongue::English, 3) => format!("{}, {} is {doing}.", capital(place), an(who)),
        (Tongue::English, _) => format!("{} {doing} {place}, {look}.", capital(&an(who))),
        (Tongue::Chinese, 0) => format!("{who}在{place}{doing}，{look}。"),
        (Tongue::Chinese, 1) => format!("{place}，{who}正在{doing}。"),
        (Tongue::Chinese, 2) => format!("画面里{who}在{place}{doing}。"),
        (Tongue::Chinese, 3) => format!("{who}正在{place}{doing}。"),
        (Tongue::Chinese, _) => format!("{look}，{who}在{place}{doing}。"),
    }
}

fn an(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {noun}")
}

/// A text with a capital letter.
pub fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or(String::new(), |first| first.to_uppercase().chain(characters).collect())
}

/// References for so many images, so many for each.
pub fn references(tongue: Tongue, images: usize, each: usize) -> Value {
    let list: Vec<Value> = (0..images).map(|image| json!({ "id": image + 1, "file_name": "" })).collect();
    let captions = (0..images).flat_map(|image| (0..each).map(move |k| (image, k * 7 + image)));
    let annotations: Vec<Value> = (1..)
        .zip(captions)
        .map(|(id, (image, k))| json!({ "id": id, "image_id": image + 1, "caption": sentence(tongue, image, k) }))
        .collect();
    json!({ "images": list, "annotations": annotations })
}

/// The captions of a method for so many images: it takes another picture for the one it sees in `wrong` of a hundred,
/// and stops after so many words, or characters of Chinese. `taste` decides which of the right words it prefers.
pub fn results(tongue: Tongue, images: usize, (wrong, most, taste): (usize, usize, usize)) -> Value {
    let caption = |image: usize| {
        let seen = if (image * 37 + 11) % 100 < wrong { image * 11 + 5 } else { image };
        let sentence = sentence(tongue, seen, image * 5 + taste);
        let text = match tongue {
            Tongue::English => {
                let words = sentence.trim_end_matches('.').to_lowercase();
                words.split(' ').take(most).collect::<Vec<_>>().join(" ")
            }
            Tongue::Chinese => sentence.trim_end_matches('。').chars().take(most).collect(),
        };
        json!({ "image_id": image + 1, "caption": text })
    };
    (0..images).map(caption).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_whole_and_repeat_little() {
        for tongue in [Tongue::English, Tongue::Chinese] {
            let written: Vec<String> = (0..60).map(|image| sentence(tongue, image, image)).collect();
            let mut different = written.clone();
            different.sort();
            different.dedup();
            assert!(different.len() > 55, "{}", different.len());
            let ends = if tongue == Tongue::English { '.' } else { '。' };
            assert!(written.iter().all(|text| text.ends_with(ends) && !text.contains("  ")));
        }
        assert_eq!(sentence(Tongue::English, 8, 3), "Under a tree, an elderly man is standing still.");
        assert_eq!(sentence(Tongue::Chinese, 3, 1), "水边，一只小猫正在吃点心。");
    }
}
