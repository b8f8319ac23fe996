"""Small Boolean data sets that come with conjunct, each with its licence."""

from .catalogue import DATASETS as DATASETS
from .catalogue import BooleanDataset as BooleanDataset
from .catalogue import Dataset as Dataset
from .catalogue import find as find
from .catalogue import load as load
from .catalogue import load_coco_street as load_coco_street
from .catalogue import load_coco_val2017 as load_coco_val2017
from .catalogue import load_house_votes_84 as load_house_votes_84
from .catalogue import load_spect as load_spect
from .catalogue import load_zoo as load_zoo
