//! The text of a caption: cleaned without changing a word, counted, and told apart from others.

use unicode_normalization::UnicodeNormalization;

/// Characters of common words in simplified and traditional Chinese, in pairs.
const SCRIPTS: &str = "个個们們这這来來为為时時说說国國学學对對开開关關与與东東车車见見长長门門问問间間马馬风風飞飛鱼魚鸟鳥龙龍书書\
头頭还還进進过過远遠运運动動边邊让讓认認识識话話语語请請读讀写寫买買卖賣红紅绿綠蓝藍铁鐵银銀钱錢错錯镜鏡军軍战戰剑劍枪槍骑騎\
队隊阵陣击擊杀殺伤傷树樹桥橋楼樓顶頂脸臉颜顏发發亮亮云雲电電灯燈灵靈点點热熱烟煙画畫图圖圆圓场場块塊坏壞墙牆壮壯声聲处處备備\
夺奪奋奮奖獎妇婦孙孫宁寧宝寶实實宠寵审審宫宮宽寬宾賓导導尔爾尘塵尝嘗层層属屬岁歲岛島岭嶺帅帥师師帐帳带帶帮幫广廣庄莊庆慶库庫应應\
庙廟异異弃棄张張弯彎弹彈强強归歸当當录錄彻徹径徑忆憶忧憂怀懷态態总總恶惡悬懸惊驚惧懼惨慘愿願户戶扑撲执執扩擴扫掃扬揚抢搶护護\
报報担擔拥擁择擇挂掛挡擋挥揮损損换換据據掷擲搅攪摄攝摆擺摇搖数數斩斬断斷无無旧舊显顯晒曬晓曉暂暫术術机機权權条條极極构構枫楓\
柜櫃标標栏欄样樣桩樁档檔梦夢检檢欢歡欧歐残殘毁毀气氣汉漢汤湯沟溝没沒泪淚泽澤洁潔浅淺济濟浓濃涂塗润潤涨漲渊淵渐漸温溫湾灣湿濕\
滚滾满滿滤濾滨濱灭滅灾災炉爐炼煉烁爍烂爛烧燒爱愛爷爺牵牽犹猶狮獅独獨狭狹猎獵猫貓献獻环環现現玛瑪疗療疯瘋盐鹽监監盖蓋盘盤矿礦\
码碼砖磚础礎确確礼禮祸禍离離种種积積称稱稳穩穷窮窃竊竞競笔筆笼籠筑築简簡类類粮糧紧緊纪紀纯純纱紗纸紙纹紋线線练練组組细細终終经經\
绑綁结結绕繞给給络絡绝絕统統绳繩维維绵綿续續绸綢网網罗羅职職联聯胜勝脑腦脚腳脱脫腾騰舰艦舱艙艳豔艺藝节節苍蒼茎莖荐薦药藥莲蓮获獲\
虏虜虑慮虫蟲虽雖蚁蟻蛮蠻补補装裝观觀规規视視览覽觉覺触觸誉譽计計订訂讨討训訓议議记記讲講许許设設证證评評试試诗詩该該详詳误誤诱誘\
谁誰调調谈談谜謎谢謝贝貝负負财財责責败敗货貨质質贯貫贴貼贵貴贸貿费費贼賊资資赏賞赐賜赛賽赞贊赶趕趋趨跃躍践踐踪蹤轨軌转轉轮輪软軟轻輕\
载載辅輔辆輛辉輝输輸达達迁遷迈邁违違连連迟遲适適选選递遞逻邏遗遺邮郵邻鄰郑鄭释釋针針钉釘钟鐘钢鋼钥鑰钩鉤铃鈴铜銅铠鎧铺鋪链鏈销銷\
锁鎖锅鍋锋鋒锐銳锤錘锦錦锻鍛键鍵镇鎮闪閃闭閉闯闖闲閒闷悶闹鬧闻聞阁閣阅閱阔闊阳陽阴陰阶階际際陆陸险險随隨隐隱难難雾霧静靜韩韓页頁\
项項顺順须須顾顧顿頓预預领領频頻题題额額饭飯饮飲饰飾饱飽馆館驱驅驶駛驻駐驾駕骂罵骄驕验驗骗騙骚騷骨骨鲜鮮鸡雞鸣鳴鸭鴨鹰鷹麦麥齐齊齿齒龟龜";

/// The length of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Characters other than space.
    pub characters: usize,
    /// Chinese characters.
    pub han: usize,
    /// Parts between spaces that have a letter or a digit.
    pub words: usize,
}

/// Returns true if a character is Chinese.
pub fn is_han(c: char) -> bool {
    matches!(u32::from(c), 0x3007 | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x323AF)
}

/// Characters that no one sees, or that turn the direction of others.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
    )
}

/// The text as it is stored: in NFC, on one line, without invisible characters; every word stays as it was written.
pub fn clean(text: &str) -> String {
    let seen = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c });
    // Composed last, since what no one sees may stand between a letter and its accent.
    let seen: String = seen.filter(|c| !is_invisible(*c) && !c.is_control()).nfc().collect();
    seen.split(' ').filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The form that texts share which differ in case, space and punctuation only.
pub fn norm(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Counts a cleaned text.
pub fn counts(text: &str) -> Counts {
    Counts {
        characters: text.chars().filter(|c| !c.is_whitespace()).count(),
        han: text.chars().filter(|c| is_han(*c)).count(),
        words: text.split(' ').filter(|word| word.chars().any(char::is_alphanumeric)).count(),
    }
}

/// Simplified or traditional Chinese: `hans`, `hant`, `mixed`, or nothing if no character tells.
pub fn script(text: &str) -> &'static str {
    let (mut simplified, mut traditional) = (0, 0);
    for c in text.chars().filter(|c| is_han(*c)) {
        match SCRIPTS.chars().position(|known| known == c) {
            Some(at) if at % 2 == 0 => simplified += 1,
            Some(_) => traditional += 1,
            None => {}
        }
    }
    match (simplified, traditional) {
        (0, 0) => "",
        (_, 0) => "hans",
        (0, _) => "hant",
        _ => "mixed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cleaned_and_words_stay() {
        assert_eq!(clean("  红色的\u{200b}战士\n站在　桥上。\u{202e} "), "红色的战士 站在 桥上。");
        assert_eq!(clean("cafe\u{301} \u{feff}A\tB\u{0}"), "café A B");
        assert_eq!(clean("全角，标点！（保留）"), "全角，标点！（保留）");
        assert_eq!(clean("cafe\u{200d}\u{301}"), "café");
        assert_eq!(clean("\u{200d}\u{2066}"), "");
        assert_eq!(norm("A dog, runs!"), norm("a DOG runs"));
        assert_eq!(norm("一只狗，在跑。"), "一只狗在跑");
    }

    #[test]
    fn texts_are_counted() {
        let all = |text| {
            let Counts { characters, han, words } = counts(text);
            (characters, han, words)
        };
        assert_eq!(all("A dog - it runs."), (12, 0, 4));
        assert_eq!(all("红色的战士 Boss 站着。"), (12, 7, 3));
        assert_eq!(all(""), (0, 0, 0));
    }

    #[test]
    fn simplified_and_traditional_are_told_apart() {
        let pairs: Vec<char> = SCRIPTS.chars().filter(|c| !c.is_whitespace()).collect();
        assert_eq!(pairs.len() % 2, 0);
        assert_eq!(script("红色的战士站在桥上"), "hans");
        assert_eq!(script("紅色的戰士站在橋上"), "hant");
        assert_eq!(script("红色的戰士"), "mixed");
        assert_eq!(script("大山和小河 and a dog"), "");
    }
}
