"""The page of docs that compares with scikit-learn can be made: ours is nowhere above theirs by more than its gap."""

import parity


def test_twelve_data_sets(capsys):
    assert len(parity.DATA) == 12
    assert parity.main() == 0
    assert capsys.readouterr().out.count("| SVC |") == 12
