//! What the type of a column means for a table.

use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::schema::types::{ColumnDescriptor, Type};

/// How the values of a column are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// As the numbers or booleans they are.
    Plain,
    Unsigned,
    Decimal {
        scale: usize,
    },
    Text,
    /// Not at all.
    Other {
        what: String,
    },
}

/// Decimals of more digits than this do not fit 16 bytes.
const MOST_DIGITS: i32 = 38;

impl Kind {
    /// Of a field that is a column itself.
    pub(super) fn of(column: &ColumnDescriptor) -> Kind {
        let logical = column.logical_type_ref();
        let converted = column.converted_type();
        let is_decimal =
            matches!(logical, Some(LogicalType::Decimal(_))) || converted == ConvertedType::DECIMAL;
        let other = || Kind::Other { what: described(column) };
        match column.physical_type() {
            Physical::INT96 | Physical::BOOLEAN | Physical::FLOAT | Physical::DOUBLE if is_decimal => other(),
            Physical::BOOLEAN | Physical::FLOAT | Physical::DOUBLE => Kind::Plain,
            _ if is_decimal => match (column.type_precision(), usize::try_from(column.type_scale())) {
                (0..=MOST_DIGITS, Ok(scale @ 0..=38)) => Kind::Decimal { scale },
                _ => other(),
            },
            Physical::INT32 | Physical::INT64 => integer(logical, converted).unwrap_or_else(other),
            Physical::BYTE_ARRAY if is_text(logical, converted) => Kind::Text,
            _ => other(),
        }
    }

    /// Of a field that holds columns.
    pub(super) fn nested(field: &Type) -> Kind {
        let info = field.get_basic_info();
        let what = match (info.logical_type_ref(), info.converted_type()) {
            (Some(LogicalType::List), _) | (_, ConvertedType::LIST) => "lists",
            (Some(LogicalType::Map), _) | (_, ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE) => "maps",
            _ if field.is_primitive() => "lists",
            _ => "structs",
        };
        Kind::Other { what: what.to_owned() }
    }
}

/// `Unknown` is the type of columns that hold nothing.
fn integer(logical: Option<&LogicalType>, converted: ConvertedType) -> Option<Kind> {
    use ConvertedType::{INT_8, INT_16, INT_32, INT_64, NONE, UINT_8, UINT_16, UINT_32, UINT_64};
    match (logical, converted) {
        (Some(LogicalType::Integer(integer)), _) if !integer.is_signed => Some(Kind::Unsigned),
        (Some(LogicalType::Integer(_) | LogicalType::Unknown), _) => Some(Kind::Plain),
        (None, UINT_8 | UINT_16 | UINT_32 | UINT_64) => Some(Kind::Unsigned),
        (None, NONE | INT_8 | INT_16 | INT_32 | INT_64) => Some(Kind::Plain),
        _ => None,
    }
}

fn is_text(logical: Option<&LogicalType>, converted: ConvertedType) -> bool {
    match logical {
        Some(LogicalType::String | LogicalType::Enum) => true,
        Some(_) => false,
        None => matches!(converted, ConvertedType::UTF8 | ConvertedType::ENUM),
    }
}

/// The type as the file says it.
fn described(column: &ColumnDescriptor) -> String {
    let plain = |name: String| name.to_lowercase().replace('_', " ");
    match (column.logical_type_ref(), column.converted_type(), column.physical_type()) {
        (Some(LogicalType::Timestamp(_)), ..)
        | (None, ConvertedType::TIMESTAMP_MILLIS | ConvertedType::TIMESTAMP_MICROS, _)
        | (_, _, Physical::INT96) => "timestamps".to_owned(),
        (Some(LogicalType::Date), ..) | (None, ConvertedType::DATE, _) => "dates".to_owned(),
        (Some(LogicalType::Time(_)), ..)
        | (None, ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS, _) => "times".to_owned(),
        (Some(LogicalType::Float16), ..) => "16-bit floats".to_owned(),
        (Some(LogicalType::Decimal(_)), ..) => format!("decimals of {} digits", column.type_precision()),
        (Some(LogicalType::Uuid), ..) => "UUIDs".to_owned(),
        (Some(LogicalType::Json), ..) => "JSON".to_owned(),
        (None, ConvertedType::NONE, _) => "binary data".to_owned(),
        (None, converted, _) => plain(converted.to_string()),
        (Some(other), ..) => plain(format!("{other:?}")),
    }
}
