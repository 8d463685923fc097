# SPDX-License-Identifier: Apache-2.0
"""Texts that tokenizers disagree on: scripts of Unicode 14, emoji, digits, blanks, controls, code."""
import random
import unicodedata

SENTENCES = [
    "The quick brown fox can't jump; it's lazy, they'll say. WE'RE I'M he'D",
    "Größe, naïve café, Ærøskøbing, Łódź, İstanbul ıI, Dž ǆ ß ẞ ﬁ ſ 'ſ",
    "Привет, как дела? Ещё ёлка.", "Καλημέρα κόσμε, ὦ ἄνδρες", "שלום עולם, נִקּוּד", "مرحبا بالعالم ١٢٣ ٤٥",
    "नमस्ते दुनिया १२३", "สวัสดีชาวโลก ๑๒๓", "こんにちは世界。カタカナ、漢字かな交じり文", "안녕하세요 세계 안녕", "你好，世界！一二三",
    "ⴰⵣⵓⵍ ⵎⴰⴹⴰⵍ", "ᏣᎳᎩ ꮳꮃꭹ", "ሰላም ልዑል", "Բարեւ աշխարհ", "გამარჯობა ᲒᲐᲛ", "မင်္ဂလာပါ", "ខ្ញុំ ភាសាខ្មែរ", "བོད་སྐད",
    "𐌰𐌱𐌲 𐎀𐎁 𒀀𒁀 𓀀𓁀 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟙𝟚𝟛", "🙂🙃👩‍👩‍👧‍👦🏳️‍🌈👍🏽🇩🇪🇯🇵 ☺️☹ ✈︎✈️ 🫠🫡🥹", "½ ⅓ ² ³ ₄ Ⅷ ⅷ ① ⒈ ㊿ 〇 零 ௧௨ 𐄇 𑁒",
    "1 12 123 1234 12345 123456 1,234.56 3.14e-10 0xFF 1_000 ٣٤٥٦ １２３４",
    "e\u0301 o\u0308 A\u030a n\u0303 \u1100\u1161\u11a8 \u0041\u0328\u0301 \u212b \u2126 \ufb01 \u0958",
    "a\u0315\u0300\u05ae\u0300b q\u0307\u0323 \u1e0b\u0323 \u0344 \u2adc",
    "def f(x):\n\treturn x ** 2  # square\n\n\nclass A:\n    pass\n\n", "for(int i=0;i<10;++i){a[i]&=~b;}//x\r\n\r\n",
    "<html>\n  <body class=\"x\">&nbsp;</body>\n</html>", '{"a": [1, 2.50, null], "b": "\\u00e9"}', "SELECT * FROM t WHERE x='y';--",
    "https://example.org/a?b=c&d=%20#e user@example.org C:\\path\\file", "<|im_start|>user\nhi<|im_end|> <|endoftext|><tool_call>",
    "   leading", "trailing   ", "a  b   c    d\te\t\tf \t g", "\n", "\n\n\n", " \n \n", "a\n b", "a \n\n  b", "\r\n\r\n x", "x\r\ry",
    "!!! ??? ... --- ___ *** ~~~ `` $$$ %%% ^^^", "'s 't 're 've 'm 'll 'd 'S 'T 'RE 'Ve 'M 'lL 'D 'x '' 's's", "don't DON'T don’t",
    "a\u00a0b\u2003c\u3000d\u1680e\u2028f\u2029g\u202fh\u205fi\u0085j\u180ek\u200bl\ufeffm", "\x00\x01\x02\x03\x04\x05\x06\x07\x08",
    "\x0b\x0c\x0e\x0f\x10\x13\x1b[31mred\x1b[0m\x1c\x1d\x1e\x1f\x7f", "\x80\x81\x85\x9f\xa0\xad", "\ufffd\ufffe\uffff\U0010ffff\ue000",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "ab" * 200, " " * 300, "\n" * 300, "😀" * 40, "1" * 100, "",
]


def letters():
    """Every character of Unicode 14 (what Python 3.11 knows), in runs of one block of 32."""
    for start in range(0, 0x32000, 32):
        known = [chr(code) for code in range(start, start + 32)
                 if unicodedata.category(chr(code)) not in ("Cn", "Cs", "Co")]
        if known:
            yield "".join(known)
            yield " ".join(known)


def mixtures(count, seed=14):
    """Random runs of unlike characters: every border between two classes of them comes up."""
    generator = random.Random(seed)
    classes = ["abcXYZéß", "0123456789٣½", " ", "  \t", "\n\r", "'stredvmllTD", ".,;:!?-_()[]{}<>/\\\"", "日本語한국어",
               "🙂👍🏽\u200d\ufe0f", "\x00\x07\x1b\x85\xa0\u2028\u3000", "e\u0301o\u0308\u1100\u1161", "АбвΓδ"]
    for _ in range(count):
        runs = generator.randint(1, 12)
        yield "".join("".join(generator.choices(generator.choice(classes), k=generator.randint(1, 5)))
                      for _ in range(runs))


def texts():
    return SENTENCES + list(letters()) + list(mixtures(2000))
