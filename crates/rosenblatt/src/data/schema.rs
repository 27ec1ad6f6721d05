//! How the columns of a table become features.

use serde::{Deserialize, Serialize};

use super::{Imputation, TextColumn};

/// The features a data set has and a model expects.
///
/// ```
/// use rosenblatt::Features;
/// let features = Features { count: 3, ..Default::default() };
/// assert_eq!(features.name(2), "3");
/// let hashed = Features { count: 4, hash: Some(2), ..Default::default() };
/// assert_eq!(hashed.name(2), "#2");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Features {
    /// How many.
    pub count: usize,
    /// Their names, if they have any.
    pub names: Option<Vec<String>>,
    /// The table columns they were made from, if they came from a table.
    pub schema: Option<Schema>,
    /// Names were hashed into 2^hash features, each a bucket that several may share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<u8>,
    /// The texts some of them were made from, in the order of their features.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<TextColumn>,
    /// Whether rows may have more than these, as with models of LIBSVM and LIBLINEAR.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
    /// What missing values become; without it none may be missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filled: Option<Imputation>,
}

impl Features {
    /// The name of feature `j`, or its number counted from 1; `#` and the bucket, counted from 0, where names were hashed.
    pub fn name(&self, j: usize) -> String {
        match (&self.names, self.hash) {
            (Some(names), _) => names[j].clone(),
            (None, Some(_)) => format!("#{j}"),
            (None, None) => (j + 1).to_string(),
        }
    }
}

/// The columns of a table in file order. A model keeps the schema of its training table, so that a new table is
/// read into the same features.
///
/// ```
/// use rosenblatt::{Column, Role, Schema};
/// let schema = Schema {
///     header: true,
///     columns: vec![
///         Column::new("weight", Role::Numeric),
///         Column::new("make", Role::Categorical { levels: vec!["bmw".into(), "ford".into()] }),
///         Column::new("mpg", Role::Label),
///     ],
/// };
/// assert_eq!(schema.feature_names(), ["weight", "make=bmw", "make=ford"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// Whether the table named its columns.
    pub header: bool,
    /// All columns, features or not.
    pub columns: Vec<Column>,
}

/// One column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its name in the header, or its number (from 1) where there is none.
    pub name: String,
    /// What it is for.
    pub role: Role,
}

/// What a column is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Role {
    /// One feature.
    Numeric,
    /// One feature per level, 1 where the cell has that level.
    Categorical {
        /// The values seen in training, sorted.
        levels: Vec<String>,
    },
    /// One feature per n-gram of its text; [`TextColumn`] tells which.
    Text {
        /// How many.
        features: usize,
    },
    /// The class.
    Label,
    /// The sample weight.
    Weight,
    /// Nothing: left out on request.
    Ignored,
}

impl Column {
    /// A column by name and role.
    pub fn new(name: impl Into<String>, role: Role) -> Self {
        Column { name: name.into(), role }
    }

    /// The names of the features it makes; none for a text, whose n-grams only the names of the [`Features`] hold.
    pub fn feature_names(&self) -> Vec<String> {
        let name = &self.name;
        match &self.role {
            Role::Numeric => vec![name.clone()],
            Role::Categorical { levels } => levels.iter().map(|level| format!("{name}={level}")).collect(),
            Role::Text { .. } | Role::Label | Role::Weight | Role::Ignored => Vec::new(),
        }
    }

    /// How many features it makes.
    pub fn width(&self) -> usize {
        match &self.role {
            Role::Numeric => 1,
            Role::Categorical { levels } => levels.len(),
            Role::Text { features } => *features,
            Role::Label | Role::Weight | Role::Ignored => 0,
        }
    }
}

impl Schema {
    /// The name of each feature; one per level for categories. N-grams of texts are not among them: only the names of the
    /// [`Features`] hold those.
    pub fn feature_names(&self) -> Vec<String> {
        self.columns.iter().flat_map(Column::feature_names).collect()
    }

    /// How many features the table makes.
    pub fn n_features(&self) -> usize {
        self.columns.iter().map(Column::width).fold(0, usize::saturating_add)
    }

    /// The column that holds the classes.
    pub fn label(&self) -> Option<&Column> {
        self.columns.iter().find(|column| column.role == Role::Label)
    }
}
