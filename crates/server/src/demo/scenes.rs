//! Pictures that the program draws itself, like screenshots of games that do not exist, and captions of them.

use image::{Rgb, RgbImage};

/// The width of a picture.
const WIDTH: i32 = 960;

/// The height of a picture.
const HEIGHT: i32 = 540;

/// The line between the ground and the sky.
const HORIZON: i32 = 380;

/// What a picture shows.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    hero: usize,
    place: usize,
    time: usize,
    trees: usize,
}

/// Heroes in English and Chinese, with their colours.
const HEROES: [(&str, &str, [u8; 3]); 4] = [
    ("a knight in red armour", "一名身穿红色盔甲的骑士", [196, 48, 43]),
    ("a blue robot", "一个蓝色的机器人", [52, 104, 212]),
    ("a small green dragon", "一条绿色的小龙", [58, 158, 74]),
    ("a wizard with a purple hat", "一位戴紫色帽子的巫师", [128, 62, 168]),
];

/// Places in English and Chinese.
const PLACES: [(&str, &str); 4] = [
    ("a grey castle with two towers", "一座有两个塔楼的灰色城堡"),
    ("a wooden house with a red roof", "一间红屋顶的木屋"),
    ("a high mountain with snow on its top", "一座山顶积雪的高山"),
    ("a stone pyramid in the sand", "沙地上的一座石头金字塔"),
];

/// Times of the day in English and Chinese, with the colours of the sky above and below and of the ground.
const TIMES: [(&str, &str, [[u8; 3]; 3]); 3] = [
    ("under a bright blue sky", "晴朗的蓝天下", [[110, 176, 240], [206, 231, 250], [104, 160, 82]]),
    ("at sunset", "夕阳西下时", [[92, 62, 130], [246, 158, 88], [112, 98, 62]]),
    ("on a dark night with a full moon", "满月的黑夜里", [[10, 14, 38], [44, 54, 96], [38, 58, 52]]),
];

impl Scene {
    /// The scene with this number; neighbours differ.
    pub fn of(number: usize) -> Self {
        Self {
            hero: number % 4,
            place: number / 4 % 4,
            time: (number * 2 + number / 5) % 3,
            trees: number % 5,
        }
    }

    /// The title of the game that it could be from.
    pub fn game(self) -> &'static str {
        ["Castles of Nowhere", "Roofs and Woods", "Above the Snow", "Sand and Stone"][self.place]
    }

    /// A sentence that a person might write about it; the number chooses among them.
    pub fn sentence(self, language: &str, k: usize) -> String {
        let (hero, held, _) = HEROES[self.hero];
        let (place, site) = PLACES[self.place];
        let (time, when, _) = TIMES[self.time];
        if language == "zh" {
            return match k % 3 {
                0 => format!("{when}，{held}站在{site}前面。"),
                1 => format!("{site}前站着{held}，{}。", self.trees_in_chinese()),
                _ => format!("{held}独自停在{site}的左边，{when}四周没有别人。"),
            };
        }
        match k % 3 {
            0 => format!("{} stands in front of {place} {time}.", capital(hero)),
            1 => format!("{} is behind {hero} and {}.", capital(place), self.trees_in_english()),
            _ => format!("{} waits all alone to the left of {place} {time}.", capital(hero)),
        }
    }

    /// A sentence that gets something wrong.
    pub fn mistaken(self, language: &str) -> String {
        let other = Self { hero: (self.hero + 1) % 4, place: (self.place + 2) % 4, ..self };
        other.sentence(language, 0)
    }

    fn trees_in_english(self) -> String {
        match self.trees {
            0 => "an empty field".to_owned(),
            1 => "a single tree".to_owned(),
            n => format!("a row of {} trees", ["two", "three", "four"][n - 2]),
        }
    }

    fn trees_in_chinese(self) -> String {
        match self.trees {
            0 => "周围是空旷的田野".to_owned(),
            n => format!("旁边有{}棵树", ["一", "两", "三", "四"][n - 1]),
        }
    }

    /// The picture.
    pub fn draw(self) -> RgbImage {
        let (_, _, [above, below, ground]) = TIMES[self.time];
        let mut canvas = Canvas(RgbImage::from_fn(WIDTH as u32, HEIGHT as u32, |_, y| {
            let y = y as i32;
            if y >= HORIZON { Rgb(ground) } else { Rgb(mixed(above, below, y as f32 / HORIZON as f32)) }
        }));
        let light = [[255, 240, 170], [255, 205, 120], [238, 238, 224]][self.time];
        canvas.circle(760, [90, 330, 110][self.time], 44, light);
        match self.place {
            0 => canvas.castle(),
            1 => canvas.house(),
            2 => canvas.mountain(),
            _ => canvas.pyramid(),
        }
        for tree in 0..self.trees as i32 {
            canvas.tree(700 + 58 * tree, HORIZON + 14 + 9 * (tree % 2));
        }
        canvas.hero(self.hero);
        canvas.0
    }
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

fn mixed(a: [u8; 3], b: [u8; 3], share: f32) -> [u8; 3] {
    std::array::from_fn(|k| (f32::from(a[k]) * (1.0 - share) + f32::from(b[k]) * share) as u8)
}

struct Canvas(RgbImage);

impl Canvas {
    fn dot(&mut self, x: i32, y: i32, colour: [u8; 3]) {
        if (0..WIDTH).contains(&x) && (0..HEIGHT).contains(&y) {
            self.0.put_pixel(x as u32, y as u32, Rgb(colour));
        }
    }

    fn rectangle(&mut self, (x, y): (i32, i32), (width, height): (i32, i32), colour: [u8; 3]) {
        for down in 0..height {
            for across in 0..width {
                self.dot(x + across, y + down, colour);
            }
        }
    }

    fn circle(&mut self, x: i32, y: i32, radius: i32, colour: [u8; 3]) {
        for down in -radius..=radius {
            for across in -radius..=radius {
                if down * down + across * across <= radius * radius {
                    self.dot(x + across, y + down, colour);
                }
            }
        }
    }

    /// A triangle with its base at the bottom.
    fn triangle(&mut self, (x, y): (i32, i32), half: i32, height: i32, colour: [u8; 3]) {
        for down in 0..height {
            let reach = half * down / height;
            for across in -reach..=reach {
                self.dot(x + across, y + down, colour);
            }
        }
    }

    fn castle(&mut self) {
        let (wall, dark) = ([138, 140, 148], [58, 58, 66]);
        self.rectangle((390, 210), (240, 180), wall);
        for tower in [350, 600] {
            self.rectangle((tower, 140), (70, 250), mixed(wall, dark, 0.15));
            for tooth in 0..3 {
                self.rectangle((tower + 26 * tooth, 122), (18, 18), wall);
            }
            self.rectangle((tower + 26, 190), (18, 36), dark);
        }
        self.rectangle((480, 290), (60, 100), dark);
        self.circle(510, 290, 30, dark);
    }

    fn house(&mut self) {
        self.rectangle((420, 250), (220, 140), [150, 104, 62]);
        self.triangle((530, 160), 140, 92, [186, 56, 44]);
        self.rectangle((505, 310), (50, 80), [80, 52, 30]);
        for window in [440, 580] {
            self.rectangle((window, 285), (40, 40), [250, 226, 140]);
        }
    }

    fn mountain(&mut self) {
        self.triangle((540, 60), 330, 330, [96, 92, 104]);
        self.triangle((540, 60), 100, 100, [244, 246, 250]);
    }

    fn pyramid(&mut self) {
        self.rectangle((0, HORIZON), (WIDTH, HEIGHT - HORIZON), [214, 186, 120]);
        self.triangle((540, 130), 250, 260, [198, 164, 92]);
        for row in 1..6 {
            let half = 250 * row * 43 / 260;
            self.rectangle((540 - half, 130 + row * 43), (2 * half, 3), [160, 128, 66]);
        }
    }

    fn tree(&mut self, x: i32, foot: i32) {
        self.rectangle((x - 6, foot - 60), (12, 60), [96, 66, 40]);
        self.circle(x, foot - 78, 32, [44, 112, 58]);
    }

    fn hero(&mut self, hero: usize) {
        let (_, _, colour) = HEROES[hero];
        let dark = mixed(colour, [0, 0, 0], 0.35);
        self.rectangle((190, 400), (24, 70), dark);
        self.rectangle((236, 400), (24, 70), dark);
        self.rectangle((178, 300), (94, 110), colour);
        match hero {
            0 => {
                self.circle(225, 270, 34, [190, 194, 202]);
                self.rectangle((200, 262), (50, 10), [30, 30, 34]);
                self.rectangle((290, 240), (8, 170), [214, 216, 222]);
            }
            1 => {
                self.rectangle((192, 236), (66, 58), colour);
                self.circle(210, 262, 8, [250, 240, 120]);
                self.circle(240, 262, 8, [250, 240, 120]);
                self.rectangle((222, 206), (6, 30), dark);
            }
            2 => {
                self.triangle((140, 300), 40, 90, dark);
                self.triangle((310, 300), 40, 90, dark);
                self.circle(225, 268, 40, colour);
                self.circle(240, 258, 6, [20, 20, 20]);
            }
            _ => {
                self.circle(225, 276, 30, [232, 196, 164]);
                self.triangle((225, 176), 50, 84, colour);
                self.rectangle((290, 230), (8, 180), [120, 84, 48]);
            }
        }
    }
}
