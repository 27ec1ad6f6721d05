"""scikit-learn's own checks of its conventions, for every estimator."""

import inspect

from sklearn.utils.estimator_checks import parametrize_with_checks

import rosenblatt
from estimators import TRANSFORMERS, classes
from rosenblatt._online import Online

ORDER = "an online learner's model depends on the order of its rows, and the check compares two orders"
STOCHASTIC = "rows are drawn by their places, and the check compares other places: both runs end near an optimum, not at one"
SINGLE = "kernel values are of single precision: scores agree to 2e-7, and the check asks for 1e-7"
NOISE = "the last weights of a perceptron on rows of nothing but noise follow the last rows, whatever the classes weigh"
NU = "so many support vectors are more than the weights of the smaller class allow: refused, with the largest nu that is possible"
HARD = "classes that no plane separates are refused, which is what this learner is for, and the check has such"
NEGATIVE = "the check has negative features, whatever the tag positive_only says: refused"
SYMMETRIC = "the matrix of the check is not symmetric, so no kernel: refused"
FAR = "rows a hundred times farther from 0 than the kernel is wide are refused, as single precision knows no cosines of them"

EQUIVALENCE = ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"]

#: Checks whose rows no plane separates.
INSEPARABLE = [
    *EQUIVALENCE,
    "check_class_weight_classifiers",
    "check_classifier_data_not_an_array",
    "check_classifiers_train",
    "check_dict_unchanged",
    "check_dont_overwrite_parameters",
    "check_dtype_object",
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimator_sparse_tag",
    "check_estimators_dtypes",
    "check_estimators_nan_inf",
    "check_f_contiguous_array_estimator",
    "check_fit2d_predict1d",
    "check_fit_check_is_fitted",
    "check_fit_idempotent",
    "check_fit_score_takes_y",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_non_transformer_estimators_n_iter",
    "check_positive_only_tag_during_fit",
    "check_sample_weights_list",
    "check_sample_weights_not_an_array",
    "check_sample_weights_pandas_series",
    "check_supervised_y_2d",
]


def expected(estimator):
    """The checks that are expected to fail, with the reason."""
    failing = {}
    if isinstance(estimator, Online):
        failing |= dict.fromkeys(EQUIVALENCE, ORDER)
    if isinstance(estimator, (rosenblatt.PegasosSVC, rosenblatt.MLPClassifier)):
        failing |= dict.fromkeys(EQUIVALENCE, STOCHASTIC)
    if isinstance(estimator, (rosenblatt.SVC, rosenblatt.KernelLogisticRegression)):
        failing |= dict.fromkeys(EQUIVALENCE, SINGLE)
    if isinstance(estimator, (rosenblatt.Winnow, rosenblatt.MultinomialNB)):
        failing |= dict.fromkeys(["check_class_weight_classifiers", "check_decision_proba_consistency"], NEGATIVE)
    if isinstance(estimator, rosenblatt.KernelPerceptron):
        failing["check_class_weight_classifiers"] = NOISE
    if isinstance(estimator, rosenblatt.NuSVC):
        failing |= dict.fromkeys([*EQUIVALENCE, "check_class_weight_classifiers"], NU)
    if isinstance(estimator, rosenblatt.HardMarginSVC):
        failing |= dict.fromkeys(INSEPARABLE, HARD)
    if getattr(estimator, "kernel", None) == "precomputed":
        failing["check_classifiers_one_label_sample_weights"] = SYMMETRIC
    if isinstance(estimator, rosenblatt.RBFSampler):
        failing["check_fit_idempotent"] = FAR
    return failing


#: What the checks compare to seven digits has to be solved to as many; kernel values have no more.
TIGHT, SINGLE_TIGHT = {"tol": 1e-9}, {"tol": 1e-6}


def estimators():
    for cls in classes():
        names = inspect.signature(cls).parameters
        tight = SINGLE_TIGHT if "kernel" in names else TIGHT
        yield cls(**tight) if "tol" in names else cls()
    yield from TRANSFORMERS
    yield rosenblatt.SVC(kernel="precomputed", **SINGLE_TIGHT)


@parametrize_with_checks(list(estimators()), expected_failed_checks=expected)
def test_conventions(estimator, check):
    check(estimator)
