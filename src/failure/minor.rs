//! CORBA minor codes: a vendor's id in the high 20 bits, the vendor's number in the low 12.
//!
//! One number means different things under different classes, so a code is never explained without its class (see
//! [`super::corba`]). Here it is only read: in decimal, hexadecimal or both, whole or behind a vendor's name.

/// A minor code of 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Minor(pub u32);

/// Who defines a minor code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Vendor {
    /// The standard itself.
    Omg,
    /// The ORB of Sun's and Oracle's JDK, and of `GlassFish`.
    Sun,
    /// IBM's Java ORB, printed `IBM`.
    IbmOrb,
    /// IBM `WebSphere`: workload management.
    WebSphere,
    /// Apache Yoko, and Open Liberty's ORB.
    Yoko,
    /// omniORB.
    OmniOrb,
    /// `JacORB`.
    JacOrb,
    /// TAO.
    Tao,
    /// No vendor: what default constructors give.
    None,
}

/// The vendors: id, the name printed for it, the vendor, and whether its bare numbers are hexadecimal.
pub const VENDORS: &[(u32, &str, Vendor, bool)] = &[
    (0x4F4D_0000, "OMG", Vendor::Omg, false),
    (0x5355_0000, "SUN", Vendor::Sun, false),
    (0x4942_F000, "IBM", Vendor::IbmOrb, true),
    (0x4942_1000, "WebSphere", Vendor::WebSphere, true),
    (0x4153_4000, "Apache", Vendor::Yoko, false),
    (0x4154_0000, "omniORB", Vendor::OmniOrb, false),
    (0x4A43_0000, "JacORB", Vendor::JacOrb, false),
    (0x5441_0000, "TAO", Vendor::Tao, false),
    (0, "none", Vendor::None, false),
];

impl Minor {
    /// The vendor's number `low` under a vendor's id.
    pub const fn of(vendor_id: u32, low: u32) -> Self {
        Self(vendor_id | (low & 0xFFF))
    }

    /// The vendor's id: the high 20 bits.
    pub fn vendor_id(self) -> u32 {
        self.0 & !0xFFF
    }

    /// The vendor's own number: the low 12 bits.
    pub fn low(self) -> u32 {
        self.0 & 0xFFF
    }

    /// Whose code it is; nothing where the id is nobody's.
    pub fn vendor(self) -> Option<Vendor> {
        VENDORS.iter().find(|row| row.0 == self.vendor_id()).map(|row| row.2)
    }

    /// How the vendor is called; `unknown vendor` where the id is nobody's.
    pub fn vendor_name(self) -> &'static str {
        VENDORS.iter().find(|row| row.0 == self.vendor_id()).map_or("unknown vendor", |row| row.1)
    }

    /// The code that some texts give together, and whether they agree. Where they don't, the one whose vendor is known
    /// counts, else the hexadecimal one.
    pub fn read(vmcid: Option<&str>, texts: &[&str]) -> Option<(Self, bool)> {
        let base = vmcid.and_then(read_vendor);
        let mut numbers: Vec<Number> = texts.iter().flat_map(|text| numbers_in(text, base)).collect();
        // A stable sort: of several alike, the first given stays first.
        numbers.sort_by_key(|number| (!number.minor.is_known(), !number.hexadecimal));
        let first = *numbers.first()?;
        Some((first.minor, numbers.iter().all(|other| other.minor == first.minor)))
    }

    fn is_known(self) -> bool {
        !matches!(self.vendor(), None | Some(Vendor::None))
    }
}

impl std::fmt::Display for Minor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}

#[derive(Clone, Copy)]
struct Number {
    minor: Minor,
    hexadecimal: bool,
}

/// The id that a printed vendor stands for: a name or a number.
fn read_vendor(text: &str) -> Option<(u32, bool)> {
    let text = text.trim();
    let named = VENDORS.iter().find(|row| row.1.eq_ignore_ascii_case(text));
    if let Some(row) = named {
        return Some((row.0, row.3));
    }
    let (value, _) = read_number(text, false)?;
    let row = VENDORS.iter().find(|row| row.0 == value);
    Some((value, row.is_some_and(|row| row.3)))
}

/// The numbers in a text such as `1229066304 (0x49421040)`, put behind the vendor's id where there is one.
fn numbers_in(text: &str, base: Option<(u32, bool)>) -> Vec<Number> {
    let bare_is_hexadecimal = base.is_some_and(|base| base.1);
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
        .filter_map(|word| whole_without_prefix(word).or_else(|| read_number(word, bare_is_hexadecimal)))
        .map(|(value, hexadecimal)| {
            let vendor_id = base.map_or(0, |base| base.0);
            // A whole code stands as it is, also behind its vendor's name.
            let whole = value > 0xFFF || vendor_id == 0;
            Number { minor: Minor(if whole { value } else { vendor_id.wrapping_add(value) }), hexadecimal }
        })
        .collect()
}

/// Eight digits that name a known vendor as hexadecimal ones, and none as decimal ones: `49421040`.
fn whole_without_prefix(word: &str) -> Option<(u32, bool)> {
    let decimal = word.parse().ok().filter(|_| word.len() == 8).map(Minor)?;
    let value = u32::from_str_radix(word, 16).ok()?;
    (Minor(value).is_known() && !decimal.is_known()).then_some((value, true))
}

/// One number, and whether it was hexadecimal: `0x1`, `E02`, `201`, `-1229066304`. Whoever prints 32 bits as a signed
/// decimal means those bits.
fn read_number(word: &str, bare_is_hexadecimal: bool) -> Option<(u32, bool)> {
    if let Some(digits) = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        return Some((u32::from_str_radix(digits, 16).ok()?, true));
    }
    if let (false, Ok(value)) = (bare_is_hexadecimal && word.len() <= 4, word.parse::<i64>()) {
        let bits = i32::try_from(value).map(i32::cast_unsigned).or_else(|_| u32::try_from(value)).ok()?;
        return Some((bits, false));
    }
    let digits = word.len() <= 8 && word.starts_with(|c: char| c.is_ascii_hexdigit());
    // A word of letters alone is more often a word than a number.
    let plausible = bare_is_hexadecimal || (word.len() == 8 && word.contains(|c: char| c.is_ascii_digit()));
    if digits && plausible { u32::from_str_radix(word, 16).ok().map(|value| (value, true)) } else { None }
}
