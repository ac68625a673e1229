//! Lists, structs and maps as JSON documents.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Int8Type};
use arrow_array::{Array, ArrayRef, StringArray, downcast_dictionary_array, downcast_run_array};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{ArrowError, DataType, Field};
use base64::prelude::{BASE64_STANDARD, Engine as _};

use crate::columns::reading::{BOOL8, UUID, UUID_BYTES, stored, uuid};
use crate::columns::text::{float, texts};
use inrush_core::Type;
use inrush_core::value::rule;

/// Values as documents of JSON.
pub(super) struct Documents {
    pub(super) texts: StringArray,
    /// Whether floats are among them that JSON has no number for: they are texts.
    pub(super) has_spelled: bool,
}

/// What documents are written to.
#[derive(Default)]
struct Out {
    text: String,
    has_spelled: bool,
}

impl Out {
    fn push(&mut self, char: char) {
        self.text.push(char);
    }

    fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
    }
}

/// Each value as a document; NULL stays NULL.
pub(super) fn documents(array: &ArrayRef) -> Result<Documents, ArrowError> {
    let mut out = Out::default();
    let texts = (0..array.len())
        .map(|at| {
            out.text.clear();
            if value_of(array, at).is_none() {
                return Ok(None);
            }
            write(array, at, None, &mut out)?;
            Ok(Some(out.text.clone()))
        })
        .collect::<Result<_, ArrowError>>()?;
    Ok(Documents { texts, has_spelled: out.has_spelled })
}

/// Where a value itself is, behind dictionaries, runs and unions; `None` where it is NULL. Arrays of these kinds, and those of nothing
/// but NULL, don't say so themselves.
fn value_of(array: &dyn Array, at: usize) -> Option<(&dyn Array, usize)> {
    match array.data_type() {
        DataType::Null => None,
        DataType::Union(..) => {
            let union = array.as_union();
            value_of(union.child(union.type_id(at)), union.value_offset(at))
        }
        DataType::Dictionary(..) => downcast_dictionary_array! {
            array => {
                let keys = array.keys();
                let key = keys.is_valid(at).then(|| keys.value(at).as_usize());
                key.and_then(|key| value_of(array.values(), key))
            },
            _ => None
        },
        DataType::RunEndEncoded(..) => downcast_run_array! {
            array => value_of(array.values(), array.get_physical_index(at)),
            _ => None
        },
        _ => array.is_valid(at).then_some((array, at)),
    }
}

fn string(text: &str, out: &mut Out) {
    // A text is always written.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

/// Writes a value; `mark` is the extension that its field names, if any.
fn write(
    array: &dyn Array,
    at: usize,
    mark: Option<&str>,
    out: &mut Out,
) -> Result<(), ArrowError> {
    if let DataType::Union(fields, _) = array.data_type() {
        let union = array.as_union();
        let (id, at) = (union.type_id(at), union.value_offset(at));
        let field = fields.iter().find(|(of, _)| *of == id).map(|(_, field)| field);
        return write(
            union.child(id),
            at,
            field.and_then(|field| field.extension_type_name()),
            out,
        );
    }
    let mark = stored(array.data_type(), mark).1;
    let Some((array, at)) = value_of(array, at) else {
        out.push_str("null");
        return Ok(());
    };
    let list = |values: &dyn Array, item: &Field, out: &mut Out| {
        out.push('[');
        for at in 0..values.len() {
            if at > 0 {
                out.push(',');
            }
            write(values, at, item.extension_type_name(), out)?;
        }
        out.push(']');
        Ok(())
    };
    let base64 = |bytes: &[u8], out: &mut Out| {
        string(&BASE64_STANDARD.encode(bytes), out);
        Ok(())
    };
    match array.data_type() {
        DataType::List(item) => list(&array.as_list::<i32>().value(at), item, out),
        DataType::LargeList(item) => list(&array.as_list::<i64>().value(at), item, out),
        DataType::FixedSizeList(item, _) => list(&array.as_fixed_size_list().value(at), item, out),
        DataType::ListView(item) => list(&array.as_list_view::<i32>().value(at), item, out),
        DataType::LargeListView(item) => list(&array.as_list_view::<i64>().value(at), item, out),
        DataType::Struct(fields) => {
            out.push('{');
            for (index, field) in fields.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                string(field.name(), out);
                out.push(':');
                write(array.as_struct().column(index), at, field.extension_type_name(), out)?;
            }
            out.push('}');
            Ok(())
        }
        DataType::Map(..) => {
            let entries = array.as_map().value(at);
            let (keys, values) = (entries.column(0), entries.column(1));
            let [of_keys, of_values] = [0, 1].map(|at| entries.fields()[at].extension_type_name());
            out.push('{');
            for at in 0..entries.len() {
                if at > 0 {
                    out.push(',');
                }
                key(keys, at, of_keys, out)?;
                out.push(':');
                write(values, at, of_values, out)?;
            }
            out.push('}');
            Ok(())
        }
        DataType::Binary => base64(array.as_binary::<i32>().value(at), out),
        DataType::LargeBinary => base64(array.as_binary::<i64>().value(at), out),
        DataType::BinaryView => base64(array.as_binary_view().value(at), out),
        DataType::FixedSizeBinary(length) if (*length, mark) != (UUID_BYTES, Some(UUID)) => {
            base64(array.as_fixed_size_binary().value(at), out)
        }
        DataType::Int8 if mark == Some(BOOL8) => {
            out.push_str(&shown(array, at, mark)?);
            Ok(())
        }
        ty => {
            let text = shown(array, at, mark)?;
            // JSON has no number that isn't one.
            let is_spelled = ty.is_numeric() && text.ends_with(['N', 'y']);
            out.has_spelled |= is_spelled;
            let is_number = ty.is_numeric() && !is_spelled;
            let is_document = ty.is_string()
                && mark.is_some_and(|mark| Type::of_marked(mark) == Type::Json)
                && rule::json(text.as_bytes()).is_ok();
            match is_number || is_document || *ty == DataType::Boolean {
                true => out.push_str(&text),
                false => string(&text, out),
            }
            Ok(())
        }
    }
}

/// Writes a map's key, which is a text whatever it is in the map: what a value of it is written as.
fn key(keys: &dyn Array, at: usize, mark: Option<&str>, out: &mut Out) -> Result<(), ArrowError> {
    let mut key = Out::default();
    write(keys, at, mark, &mut key)?;
    match key.text.starts_with('"') {
        true => out.push_str(&key.text),
        false => string(&key.text, out),
    }
    Ok(())
}

fn shown(array: &dyn Array, at: usize, mark: Option<&str>) -> Result<String, ArrowError> {
    let mut text = String::new();
    match array.data_type() {
        DataType::FixedSizeBinary(UUID_BYTES) if mark == Some(UUID) => {
            text.push_str(&uuid(array.as_fixed_size_binary().value(at)));
        }
        DataType::Int8 if mark == Some(BOOL8) => {
            let is_true = array.as_primitive::<Int8Type>().value(at) != 0;
            text.push_str(if is_true { "true" } else { "false" });
        }
        // The very number, as in a column of its own: the shortest text of 32 bits is another one to who reads it as a double.
        DataType::Float16 => {
            float(f64::from(array.as_primitive::<Float16Type>().value(at)), &mut text)?
        }
        DataType::Float32 => {
            float(f64::from(array.as_primitive::<Float32Type>().value(at)), &mut text)?
        }
        _ => texts(array)?.write(at, &mut text)?,
    }
    if array.data_type().is_floating() && text.ends_with("inf") {
        // As it is spelled in columns of texts.
        text.replace_range(text.len() - "inf".len().., "Infinity");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::builder::{Int32Builder, ListBuilder};
    use arrow_array::{
        ArrowPrimitiveType, BinaryArray, BinaryViewArray, DictionaryArray, FixedSizeBinaryArray,
        Float16Array, Float32Array, Float64Array, Int32Array, LargeBinaryArray, ListArray,
        ListViewArray, MapArray, NullArray, RunArray, StructArray, UnionArray,
    };
    use arrow_buffer::OffsetBuffer;
    use arrow_schema::UnionFields;
    use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
    use std::sync::Arc;

    #[test]
    fn values_are_documents() {
        let mut list = ListBuilder::new(Int32Builder::new());
        list.append_value([Some(1), None, Some(3)]);
        list.append_null();
        list.append_value([]);
        let numbers: ArrayRef =
            Arc::new(Float64Array::from(vec![1.5, f64::NAN, f64::NEG_INFINITY]));
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["a\"b\n", "é", ""]));
        let lists: ArrayRef = Arc::new(list.finish());
        let pairs = [("list", lists), ("number", numbers), ("text", texts)].map(|(name, array)| {
            (Arc::new(Field::new(name, array.data_type().clone(), true)), array)
        });
        let array: ArrayRef = Arc::new(StructArray::from(pairs.to_vec()));
        let documents = documents(&array).unwrap().texts;
        assert_eq!(documents.value(0), r#"{"list":[1,null,3],"number":1.5,"text":"a\"b\n"}"#);
        assert_eq!(documents.value(1), r#"{"list":null,"number":"NaN","text":"é"}"#);
        assert_eq!(documents.value(2), r#"{"list":[],"number":"-Infinity","text":""}"#);
        for document in documents.iter().flatten() {
            serde_json::from_str::<serde_json::Value>(document).unwrap();
        }
    }

    #[test]
    fn numbers_within_are_the_very_ones_that_columns_of_them_have() {
        type Half = <Float16Type as ArrowPrimitiveType>::Native;
        let single: ArrayRef = Arc::new(Float32Array::from(vec![0.1, 16_777_216.0, f32::NAN]));
        let halves = [0.1, -2.5, f32::NEG_INFINITY].map(Half::from_f32);
        let half: ArrayRef = Arc::new(Float16Array::from(halves.to_vec()));
        for (array, wanted) in [
            (single, ["0.10000000149011612", "16777216.0", "\"NaN\""]),
            (half, ["0.0999755859375", "-2.5", "\"-Infinity\""]),
        ] {
            let field = Arc::new(Field::new("f", array.data_type().clone(), true));
            let array: ArrayRef = Arc::new(StructArray::from(vec![(field, array)]));
            let Documents { texts: documents, has_spelled } = documents(&array).unwrap();
            assert!(has_spelled);
            let wanted = wanted.map(|number| format!("{{\"f\":{number}}}"));
            assert_eq!(documents.iter().flatten().collect::<Vec<_>>(), wanted);
        }
    }

    #[test]
    fn a_text_that_is_written_as_no_number_is_none_that_became_one() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["NaN", "Infinity"]));
        let field = Arc::new(Field::new("t", DataType::Utf8, true));
        let array: ArrayRef = Arc::new(StructArray::from(vec![(field, texts)]));
        assert!(!documents(&array).unwrap().has_spelled);
    }

    #[test]
    fn uuids_and_documents_within_are_what_columns_of_them_have() {
        let marked = |name: &str, ty: DataType, mark: &str| {
            let mut field = Field::new(name, ty, true);
            field.metadata_mut().insert(EXTENSION_TYPE_NAME_KEY.to_owned(), mark.to_owned());
            Arc::new(field)
        };
        let bytes = [0x12_u8; 16];
        let fixed = || FixedSizeBinaryArray::try_from_iter([bytes; 3].into_iter()).unwrap();
        let documents_of = |mark: &str| {
            let texts = StringArray::from(vec![Some(r#"{"x":[1]}"#), Some("not so"), None]);
            let item = marked("item", DataType::FixedSizeBinary(16), mark);
            let offsets = OffsetBuffer::new(vec![0, 1, 2, 3].into());
            let list = ListArray::try_new(Arc::clone(&item), offsets, Arc::new(fixed()), None);
            let pairs: [(_, ArrayRef); 3] = [
                (marked("u", DataType::FixedSizeBinary(16), mark), Arc::new(fixed())),
                (marked("j", DataType::Utf8, mark), Arc::new(texts)),
                (Arc::new(Field::new("l", DataType::List(item), true)), Arc::new(list.unwrap())),
            ];
            let array: ArrayRef = Arc::new(StructArray::from(pairs.to_vec()));
            let documents = documents(&array).unwrap().texts;
            documents.iter().map(|one| one.unwrap().to_owned()).collect::<Vec<_>>()
        };
        let base64 = "EhISEhISEhISEhISEhISEg==";
        let uuid = "12121212-1212-1212-1212-121212121212";
        assert_eq!(
            documents_of("arrow.uuid")[0],
            format!(r#"{{"u":"{uuid}","j":"{{\"x\":[1]}}","l":["{uuid}"]}}"#)
        );
        let found = documents_of("arrow.json");
        assert_eq!(found[0], format!(r#"{{"u":"{base64}","j":{{"x":[1]}},"l":["{base64}"]}}"#));
        assert_eq!(found[1], format!(r#"{{"u":"{base64}","j":"not so","l":["{base64}"]}}"#));
        assert_eq!(found[2], format!(r#"{{"u":"{base64}","j":null,"l":["{base64}"]}}"#));
    }

    #[test]
    fn views_of_lists_are_lists_and_unions_their_values() {
        let values: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3]));
        let item = Arc::new(Field::new_list_field(DataType::Int32, true));
        let (offsets, sizes) = (vec![1, 0].into(), vec![2, 1].into());
        let list = ListViewArray::try_new(item, offsets, sizes, Arc::clone(&values), None).unwrap();
        let documents_of = |array: ArrayRef| -> Vec<String> {
            documents(&array).unwrap().texts.iter().map(|one| one.unwrap().to_owned()).collect()
        };
        assert_eq!(documents_of(Arc::new(list)), ["[2,3]", "[1]"]);

        let texts: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
        let fields = [(0, DataType::Int32), (1, DataType::Utf8)]
            .map(|(id, ty)| (id, Arc::new(Field::new(format!("f{id}"), ty, true))));
        let fields = UnionFields::from_iter(fields);
        let (ids, offsets) = (vec![0_i8, 1, 0].into(), Some(vec![2, 0, 0].into()));
        let union = UnionArray::try_new(fields, ids, offsets, vec![values, texts]).unwrap();
        assert_eq!(documents_of(Arc::new(union)), ["3", "\"a\"", "1"]);
    }

    #[test]
    fn a_null_within_is_null_whatever_array_has_it() {
        let texts = StringArray::from(vec![None, Some("x")]);
        let keys = || Int32Array::from(vec![Some(0), Some(1), None]);
        let dictionary: ArrayRef =
            Arc::new(DictionaryArray::try_new(keys(), Arc::new(texts.clone())).unwrap());
        let numbers = Arc::new(Int32Array::from(vec![7, 8]));
        let numbers: ArrayRef = Arc::new(DictionaryArray::try_new(keys(), numbers).unwrap());
        let ends = Int32Array::from(vec![1, 3]);
        let runs: ArrayRef = Arc::new(RunArray::try_new(&ends, &texts).unwrap());
        let nothing: ArrayRef = Arc::new(NullArray::new(3));
        let fields = [(0, DataType::Null), (1, DataType::Utf8)]
            .map(|(id, ty)| (id, Arc::new(Field::new(format!("f{id}"), ty, true))));
        let (ids, offsets) = (vec![0_i8, 1, 1].into(), Some(vec![0, 0, 1].into()));
        let children = vec![Arc::clone(&nothing), Arc::new(texts) as ArrayRef];
        let union: ArrayRef = Arc::new(
            UnionArray::try_new(UnionFields::from_iter(fields), ids, offsets, children).unwrap(),
        );
        let columns =
            [("d", dictionary), ("i", numbers), ("r", runs), ("n", nothing), ("u", union.clone())];
        let pairs = columns.map(|(name, array)| {
            (Arc::new(Field::new(name, array.data_type().clone(), true)), array)
        });
        let array: ArrayRef = Arc::new(StructArray::from(pairs.to_vec()));
        let found = documents(&array).unwrap().texts;
        let wanted = [
            r#"{"d":null,"i":7,"r":null,"n":null,"u":null}"#,
            r#"{"d":"x","i":8,"r":"x","n":null,"u":null}"#,
            r#"{"d":null,"i":null,"r":"x","n":null,"u":"x"}"#,
        ];
        assert_eq!(found.iter().flatten().collect::<Vec<_>>(), wanted);
        // A column of its own is NULL there.
        let own = documents(&union).unwrap().texts;
        assert_eq!(own.iter().collect::<Vec<_>>(), [None, None, Some("\"x\"")]);
    }

    #[test]
    fn bytes_are_base64_whatever_array_has_them() {
        let bytes = || [None, Some(&b"ab\xff"[..])];
        let fixed = || FixedSizeBinaryArray::try_from_iter([b"xyz", b"ab\xff"].iter()).unwrap();
        let keys = || Int32Array::from(vec![0, 1]);
        let dictionary = DictionaryArray::try_new(keys(), Arc::new(fixed())).unwrap();
        let runs = RunArray::try_new(&Int32Array::from(vec![1, 2]), &fixed()).unwrap();
        let arrays: [ArrayRef; 6] = [
            Arc::new(BinaryArray::from_iter(bytes())),
            Arc::new(LargeBinaryArray::from_iter(bytes())),
            Arc::new(BinaryViewArray::from_iter(bytes())),
            Arc::new(fixed()),
            Arc::new(dictionary),
            Arc::new(runs),
        ];
        for array in arrays {
            assert_eq!(documents(&array).unwrap().texts.value(1), r#""YWL/""#, "{array:?}");
            // Also as a key.
            let fields = [("key", false), ("value", true)]
                .map(|(name, may_be_null)| Field::new(name, array.data_type().clone(), may_be_null))
                .map(Arc::new);
            let last = array.slice(1, 1);
            let of_entries = Field::new_struct("entries", fields.to_vec(), false);
            let entries =
                StructArray::try_new(fields.to_vec().into(), vec![Arc::clone(&last), last], None);
            let offsets = OffsetBuffer::new(vec![0, 1].into());
            let map = MapArray::try_new(of_entries.into(), offsets, entries.unwrap(), None, false);
            let map: ArrayRef = Arc::new(map.unwrap());
            assert_eq!(documents(&map).unwrap().texts.value(0), r#"{"YWL/":"YWL/"}"#, "{map:?}");
        }
    }

    #[test]
    fn a_key_is_a_text_whatever_it_is_in_the_map() {
        let number = Float64Array::from(vec![f64::NAN, 1.5]);
        let mut map = arrow_array::builder::MapBuilder::new(
            None,
            arrow_array::builder::Float64Builder::new(),
            Int32Builder::new(),
        );
        for key in &number {
            map.keys().append_option(key);
            map.values().append_value(1);
        }
        map.append(true).unwrap();
        let map: ArrayRef = Arc::new(map.finish());
        let Documents { texts, has_spelled } = documents(&map).unwrap();
        assert_eq!(texts.value(0), r#"{"NaN":1,"1.5":1}"#);
        assert!(!has_spelled);
    }
}
